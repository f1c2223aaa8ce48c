// What must hold after any request, however broken: a 4xx with problem details or a closed connection, nothing told of
// what is inside, and a service that goes on.

import assert from "node:assert/strict";
import { contract, get } from "./answers.ts";
import type { Fleet } from "./fleet.ts";
import { answersIn, exchange, type RawAnswer } from "./wire.ts";

const INSIDES = /fastify|sqlite|node_modules|find-my-way|llhttp|HPE_|\n\s+at |\.[jt]s:\d|\bError:|\/src\//i;

/** A request that ends its connection. */
export function plain(fleet: Fleet, path: string, ...headers: string[]): string {
  const lines = ["Host: here", `X-API-Key: ${fleet.operator}`, "Connection: close", ...headers];
  return `GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
}

/** The answers in what was heard, each of them harmless. */
export async function harmless(fleet: Fleet, heard: Buffer): Promise<RawAnswer[]> {
  const text = heard.toString("latin1");
  assert.ok(!INSIDES.test(text), `tells of its insides: ${text}`);
  const answers = answersIn(heard);
  const { check, validator, document } = await contract(fleet);
  for (const answer of answers) {
    assert.ok(answer.status < 500, text);
    if (answer.status < 400) continue;
    check({ ...answer, method: "GET", path: "" });
    assert.ok(validator(document.components.schemas["Problem"] ?? {})(JSON.parse(answer.text)), answer.text);
  }
  const good = await get(fleet, "/v1/tanks/tank_hall", { key: fleet.operator });
  assert.equal(good.status, 200, "the service goes on");
  return answers;
}

/** Sends the bytes, and expects these statuses and then a closed connection. None: closed without a word. */
export async function survives(
  fleet: Fleet,
  bytes: string | Buffer,
  expected: readonly (number | readonly number[])[],
  options?: { readonly hangUp: boolean },
): Promise<RawAnswer[]> {
  const answers = await harmless(fleet, await exchange(fleet, bytes, options));
  const statuses = answers.map(({ status }) => status);
  const fits = statuses.length === expected.length && expected.every((one, i) => [one].flat().includes(statuses[i] ?? 0));
  assert.ok(fits, `expected ${JSON.stringify(expected)}, heard ${JSON.stringify(answers)}`);
  return answers;
}
