// What a check must say of a database that was damaged.

import assert from "node:assert/strict";
import type { Finding, Store } from "../../../src/domain/store.ts";
import { checked } from "../conformance/objects.ts";

/** It is found in these places alone, and in these words; a repair puts all of it right. */
export async function expectRepair(store: Store, where: readonly string[], what: RegExp): Promise<void> {
  const { findings } = await checked(store);
  expectFound(findings, where, what);
  assert.ok(findings.every(({ repaired }) => !repaired));
  assert.deepEqual(
    (await checked(store, true)).findings,
    findings.map((finding) => ({ ...finding, repaired: true })),
    "the first look has changed nothing",
  );
  assert.deepEqual((await checked(store)).findings, []);
}

/** It is found, once in each of these places, and still is after a repair. */
export async function expectTold(store: Store, where: readonly string[], what: RegExp): Promise<void> {
  for (const repair of [false, true]) {
    const { findings } = await checked(store, repair);
    expectFound(findings, where, what);
    assert.equal(findings.length, where.length, JSON.stringify(findings));
    assert.ok(findings.every(({ repaired }) => !repaired));
  }
}

function expectFound(findings: readonly Finding[], where: readonly string[], what: RegExp): void {
  assert.deepEqual([...new Set(findings.map((finding) => finding.where))].toSorted(), where.toSorted(), JSON.stringify(findings));
  assert.match(findings.map((finding) => finding.what).join("\n"), new RegExp(what, "m"));
}
