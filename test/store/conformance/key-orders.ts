import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import { keyResource } from "../../../src/domain/resource.ts";
import { at, command, createKey, errorOf, executed, revokeKey } from "../../support/commands.ts";
import type { Engine } from "../engines.ts";
import { DAY, key, NEW_YEAR } from "./objects.ts";

const LATER = NEW_YEAR + DAY;

export function keyOrderConformance(engine: Engine): void {
  test("a key is changed in its name, its rate and its end, and works on with the same secret", async (t) => {
    const { store } = await engine.open(t);
    await createKey(store, key("k"), "hash");
    const ends = NEW_YEAR + 90 * DAY;
    const shown = await executed(
      store,
      command.changeKey("k", { name: "New", rate: 2.5, expires_at: formatInstant(ends) }),
      at(LATER),
    );
    const found = await store.keyByHash("hash");
    assert.deepEqual(found, { ...key("k", { name: "New", rate: 2.5, expires_at: ends }), customer_deleted: false });
    assert.deepEqual(found && keyResource(found, LATER), shown);
    await executed(store, command.changeKey("k", { rate: null, expires_at: null }), at(LATER));
    assert.deepEqual(await store.keyByHash("hash"), { ...key("k", { name: "New" }), customer_deleted: false });
  });

  test("what is refused has changed nothing, and all that is wrong is told at once", async (t) => {
    const { store } = await engine.open(t);
    await createKey(store, key("k"), "hash");
    await createKey(store, key("revoked"), "revoked hash");
    await revokeKey(store, "revoked", NEW_YEAR);
    const before = await store.keyList();
    const refusals = [
      [command.changeKey("k", { name: "", rate: 0, expires_at: "soon", role: "manage" }), "body_invalid"],
      [command.changeKey("k", null), "body_invalid"],
      [command.changeKey("nobody", {}), "key_unknown"],
      [command.changeKey("revoked", { name: "New" }), "state_conflict"],
      [command.changeKey("k", { name: "New" }, '"old"'), "precondition_failed"],
    ] as const;
    for (const [given, code] of refusals) {
      assert.equal((await errorOf(store, given, at(LATER))).error, code, JSON.stringify(given));
    }
    const { errors } = await errorOf(store, refusals[0][0], at(LATER));
    assert.deepEqual(errors?.map(({ field }) => field).toSorted(), ["expires_at", "name", "rate", "role"]);
    assert.deepEqual(await store.keyList(), before);
  });
}
