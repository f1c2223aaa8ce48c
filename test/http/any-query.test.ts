// Any query string and any form, sensible or not: answered exactly when a naive reading would, with a naive page.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { customerRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { get, listOf } from "./answers.ts";
import { type NaiveItem, naivePage, naiveReading } from "./naive.ts";

const AT = Date.parse("2026-11-14T09:30:00.000Z");
const OFFSETS = [-86_400_000, -3_600_000, -1000, -2, -1, 0, 0, 0, 1, 2, 999, 3_600_000, 86_400_000, -31_536_000_000];
const EMAILS = ["a@b.example", "A@b.example", "ü+x@b.example"];
const ITEMS: readonly NaiveItem[] = ["c", "é", "\uff5e", "\u{1f600}"].flatMap((id) =>
  OFFSETS.map((offset, i) => ({ id: `${id}${i}`, created: AT + offset, email: EMAILS[i % EMAILS.length] ?? "" })),
);

const service = await startService({ after });
const key = await service.key();
await service.store.importCustomers(
  ITEMS.map(({ id, created, email }) => customerRecord(id, { email, created_at: new Date(created).toISOString() })),
);

async function expectAsNaive(query: string, form: string): Promise<void> {
  const asked = naiveReading(query, form);
  const path = `/v1/customers${query === "" ? "" : `?${query}`}`;
  const answer = await get(service, path, form === "" ? { key } : { key, body: form });
  if (asked === undefined) {
    assert.equal(answer.status, 400, answer.text);
    return;
  }
  const { data, page, size, total_items, total_pages } = listOf(answer);
  assert.deepEqual({ ids: data.map(({ id }) => id), page, size, total_items, total_pages }, naivePage(ITEMS, asked));
}

const digits = (length: number) => fc.integer({ min: 0, max: 10 ** length - 1 }).map((n) => String(n).padStart(length, "0"));
const among = (...texts: string[]) => fc.constantFrom(...texts);

const date = fc.oneof(
  { weight: 3, arbitrary: among("2026-11-14", "2026-11-13", "2026-11-15", "2025-11-14") },
  { weight: 1, arbitrary: fc.tuple(among("1999", "2024", "2026", "2100"), digits(2), digits(2)).map((parts) => parts.join("-")) },
);
const time = fc.oneof(
  { weight: 3, arbitrary: among("09:30:00", "09:29:59", "08:30:00", "00:00:00", "23:59:59") },
  { weight: 1, arbitrary: fc.tuple(digits(2), digits(2), digits(2)).map((parts) => parts.join(":")) },
);
const fraction = fc.oneof(
  among("", "", ".0", ".999", ".001", ".0001", ".9989999", ".0010000000", "."),
  fc
    .integer({ min: 1, max: 12 })
    .chain(digits)
    .map((text) => `.${text}`),
);
const zone = fc.oneof(
  { weight: 3, arbitrary: among("", "Z", "z", "+00:00", "-00:00", "+02:00", "-05:30", " 01:00", "+24:00", "+02", "+0200") },
  { weight: 1, arbitrary: fc.tuple(among("+", "-", " "), digits(2), digits(2)).map(([sign, h, m]) => `${sign}${h}:${m}`) },
);
const datetime = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(date, among("T", "T", "t", " "), time, fraction, zone).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: date },
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

/** Every character as itself where a URL can hold it, or percent-encoded, as the numbers say. */
function encoded(text: string, choices: readonly number[]): string {
  return [...text.toWellFormed()]
    .map((character, i) => {
      const choice = choices[i % choices.length] ?? 0;
      const mayStand = /^[A-Za-z0-9._~:@!$'()*,;/?-]$/.test(character) || (character === "+" && choice > 6);
      if (mayStand && choice > 1) return character;
      if (character === " " && choice > 4) return "+";
      const bytes = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
      return choice > 5 ? bytes.toUpperCase() : bytes;
    })
    .join("");
}

const pairs = fc
  .tuple(fc.array(pair, { maxLength: 4 }), fc.array(fc.nat(9), { minLength: 1, maxLength: 7 }), among("&", "&", "&&"))
  .map(([list, choices, joint]) =>
    list.map(([name, value]) => `${encoded(name, choices)}=${encoded(value, choices)}`).join(joint),
  );

/** What the HTTP parser lets through in a query. */
const PRINTABLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter((character) => character !== "#");
const unit = fc.oneof(among("&", "=", "%", "%", "+", "%2", "%e2%82", "size=", "page=1", "email=", "2", "Z"), among(...PRINTABLE));
const garbage = fc.array(unit, { maxLength: 12 }).map((parts) => parts.join(""));

describe("any request for a list is answered exactly when a naive reading would, with a naive page:", () => {
  it("parameters in the query", () =>
    fc.assert(
      fc.asyncProperty(pairs, (query) => expectAsNaive(query, "")),
      { numRuns: 500 },
    ));

  it("parameters in a form", () =>
    fc.assert(
      fc.asyncProperty(pairs, (form) => expectAsNaive("", form)),
      { numRuns: 200 },
    ));

  it("parameters in both", () => fc.assert(fc.asyncProperty(pairs, pairs, expectAsNaive), { numRuns: 200 }));

  it("garbage in the query", () =>
    fc.assert(
      fc.asyncProperty(garbage, (query) => expectAsNaive(query, "")),
      { numRuns: 400 },
    ));

  it("garbage in a form", () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(garbage, fc.string({ unit: "binary", maxLength: 20 })), (form) => expectAsNaive("", form)),
      { numRuns: 300 },
    ));

  it("and these tests see answers as well as refusals", () => {
    const sample = fc.sample(pairs, { numRuns: 500, seed: 1 });
    const answered = sample.filter((query) => query !== "" && naiveReading(query, "") !== undefined).length;
    assert.ok(answered > 50 && answered < 450, `${answered} of 500`);
  });
});
