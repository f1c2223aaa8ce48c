// Random query strings and forms, compared with a simple implementation that shares no code with the service.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { dateTimes, expectedInstant } from "../domain/datetimes.ts";
import { customerRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { list, request } from "./client.ts";

type Customer = { readonly id: string; readonly created: number; readonly email: string };

const AT = Date.parse("2026-11-14T09:30:00.000Z");
const OFFSETS = [-86_400_000, -3_600_000, -1000, -2, -1, 0, 0, 0, 1, 2, 999, 3_600_000, 86_400_000, -31_536_000_000];
const EMAILS = ["a@b.example", "A@b.example", "ü+x@b.example"];
const CUSTOMERS: readonly Customer[] = ["c", "é", "\uff5e", "\u{1f600}"].flatMap((id) =>
  OFFSETS.map((offset, i) => ({ id: `${id}${i}`, created: AT + offset, email: EMAILS[i % EMAILS.length] ?? "" })),
);

const service = await startService({ after });
const key = await service.key();
await service.store.importCustomers(
  CUSTOMERS.map(({ id, created, email }) => customerRecord(id, { email, created_at: new Date(created).toISOString() })),
);

type Query = { size: number; page: number; from: number; to: number; email?: string };

/** Undefined: the request must be rejected. */
function parse(query: string, form: string): Query | undefined {
  const parsed: Query = { size: 10, page: 1, from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  const names: string[] = [];
  for (const pair of [...query.split("&"), ...form.split("&")]) {
    if (pair === "") continue;
    const [rawName = "", ...rest] = pair.split("=");
    const [name, value] = [decode(rawName), decode(rest.join("="))];
    if (name === undefined || value === undefined || names.includes(name) || !set(parsed, name, value)) return undefined;
    names.push(name);
  }
  return parsed;
}

function set(query: Query, name: string, value: string): boolean {
  if (name === "size" || name === "page") {
    if (!/^[0-9]+$/.test(value) || String(BigInt(value)) !== value) return false;
    const number = BigInt(value);
    if (number < 1n || number > (name === "size" ? 100n : 2_147_483_647n)) return false;
    query[name] = Number(number);
    return true;
  }
  if (name === "created_at_gte" || name === "created_at_lte") {
    const parsed = expectedInstant(value);
    if (parsed === undefined) return false;
    if (name === "created_at_lte") query.to = parsed.instant;
    else query.from = parsed.wasRounded ? parsed.instant + 1 : parsed.instant;
    return true;
  }
  query.email = value;
  return name === "email" && !/\p{Cc}/u.test(value);
}

/** Byte by byte; undefined if it is not percent-encoded UTF-8. */
function decode(text: string): string | undefined {
  const bytes: number[] = [];
  const source = Buffer.from(text);
  for (let i = 0; i < source.length; i++) {
    const byte = source[i] ?? 0;
    if (byte === 0x2b) bytes.push(0x20);
    else if (byte !== 0x25) bytes.push(byte);
    else {
      const hex = source.subarray(i + 1, i + 3).toString("latin1");
      if (!/^[0-9a-fA-F]{2}$/.test(hex)) return undefined;
      bytes.push(Number.parseInt(hex, 16));
      i += 2;
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}

function expectedPage({ size, page, from, to, email }: Query) {
  const found = CUSTOMERS.filter(({ created }) => created >= from && created <= to)
    .filter((customer) => email === undefined || customer.email === email)
    .toSorted((a, b) => b.created - a.created || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id)));
  const ids = found.slice((page - 1) * size, page * size).map(({ id }) => id);
  return { ids, page, size, total_items: found.length, total_pages: Math.ceil(found.length / size) };
}

async function expectSame(query: string, form: string): Promise<void> {
  const parsed = parse(query, form);
  const path = `/v1/customers${query === "" ? "" : `?${query}`}`;
  const response = await request(service, path, form === "" ? { key } : { key, body: form });
  if (parsed === undefined) {
    assert.equal(response.status, 400, response.text);
    return;
  }
  const { data, page, size, total_items, total_pages } = list(response);
  assert.deepEqual({ ids: data.map(({ id }) => id), page, size, total_items, total_pages }, expectedPage(parsed));
}

const among = (...texts: string[]) => fc.constantFrom(...texts);
const nearby = fc
  .tuple(
    among("2026-11-14", "2026-11-13", "2026-11-15", "2025-11-14"),
    among("T", "T", "t", " "),
    among("09:30:00", "09:29:59", "08:30:00", "00:00:00", "23:59:59"),
    among("", "", ".0", ".999", ".001", ".0001", ".9989999", ".0010000000", "."),
    among("", "Z", "z", "+00:00", "-00:00", "+02:00", "-05:30", " 01:00", "+24:00", "+02", "+0200"),
  )
  .map((parts) => parts.join(""));
const datetime = fc.oneof(
  { weight: 4, arbitrary: nearby },
  { weight: 2, arbitrary: dateTimes },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
);
const number = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 30 }).map(String) },
  { weight: 1, arbitrary: among("0", "100", "101", "01", "1.0", "1e1", "+1", "-1", "", " 1", "2147483647", "2147483648") },
  { weight: 1, arbitrary: fc.bigInt({ min: -10n, max: 10n ** 20n }).map(String) },
);
const email = fc.oneof(among(...EMAILS, "b@a.example", ""), fc.string({ unit: "binary", maxLength: 8 }));
const pair = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(among("size", "page"), number) },
  { weight: 4, arbitrary: fc.tuple(among("created_at_gte", "created_at_lte"), datetime) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("email"), email) },
  { weight: 1, arbitrary: fc.tuple(among("", "Size", "limit", "created_at", "__proto__", "constructor", "size[]"), number) },
);

/** Each character raw if a URL allows it, or percent-encoded, as `choices` say. */
function encode(text: string, choices: readonly number[]): string {
  return [...text.toWellFormed()]
    .map((character, i) => {
      const choice = choices[i % choices.length] ?? 0;
      const mayBeRaw = /^[A-Za-z0-9._~:@!$'()*,;/?-]$/.test(character) || (character === "+" && choice > 6);
      if (mayBeRaw && choice > 1) return character;
      if (character === " " && choice > 4) return "+";
      const bytes = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
      return choice > 5 ? bytes.toUpperCase() : bytes;
    })
    .join("");
}

const pairs = fc
  .tuple(fc.array(pair, { maxLength: 4 }), fc.array(fc.nat(9), { minLength: 1, maxLength: 7 }), among("&", "&", "&&"))
  .map(([all, choices, separator]) =>
    all.map(([name, value]) => `${encode(name, choices)}=${encode(value, choices)}`).join(separator),
  );

/** What the HTTP parser accepts in a query. */
const PRINTABLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter((character) => character !== "#");
const unit = fc.oneof(among("&", "=", "%", "%", "+", "%2", "%e2%82", "size=", "page=1", "email=", "2", "Z"), among(...PRINTABLE));
const garbage = fc.array(unit, { maxLength: 12 }).map((parts) => parts.join(""));
const garbageForm = fc.oneof(garbage, fc.string({ unit: "binary", maxLength: 20 }));
const nothing = fc.constant("");

describe("the list of customers returns the right page, or 400, for random", () => {
  for (const [name, query, form, numRuns] of [
    ["parameters in the query", pairs, nothing, 120],
    ["parameters in a form", nothing, pairs, 60],
    ["parameters in both", pairs, pairs, 60],
    ["bytes in the query", garbage, nothing, 80],
    ["bytes in a form", nothing, garbageForm, 80],
  ] as const) {
    it(name, () => fc.assert(fc.asyncProperty(query, form, expectSame), { numRuns }));
  }
});
