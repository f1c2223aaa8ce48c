// The audit log on the command line: who did what, when.

import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { SMALL_FLEET } from "./fleet.ts";
import { keeping, refused, type Way } from "./keeping.ts";
import { sharedLife } from "./program.ts";

suite("the audit log", () => {
  const life = sharedLife();
  let way: Way;
  let secret = "";

  before(async () => {
    way = await keeping(life, "a running service", SMALL_FLEET);
    await way.done("tank", "update", "a1", "--threshold", "35");
    await way.here.run(["customer", "update", "ada", "--phone", ""]);
    secret = (await way.done("key", "create", "--name", "secret one")).trim();
  });

  test("tells who did it: the id of the key, or the command line; and from what to what", async () => {
    const [made, changed, first] = await way.items("audit", "--limit", "3");
    const [key] = (await way.items("key", "list")).filter(({ role }) => role === "manage");
    assert.deepEqual([made?.["type"], made?.["action"], made?.["by"]], ["key", "created", key?.["id"]]);
    assert.deepEqual([changed?.["type"], changed?.["by"], changed?.["id"]], ["customer", "command line", "ada"]);
    assert.deepEqual(changed?.["changes"], { phone: { from: "+43 1 234", to: null } });
    assert.deepEqual(first?.["changes"], { min_fill_alert_percentage: { from: 20, to: 35 } });
    const table = await way.done("audit", "--id", "a1", "--limit", "1");
    assert.match(
      table,
      /^WHEN +BY +ACTION +TYPE +ID +CHANGES\n\S+Z +key_\w+ \(\w+[^)]*\) +changed +tank +a1 +min_fill_alert_percentage 20 → 35\n$/,
    );
  });

  test("is searched by who, by what and by when", async () => {
    const byCommandLine = await way.items("audit", "--by", "command line", "--type", "customer", "--since", "1h");
    assert.deepEqual(
      byCommandLine.filter(({ action }) => action === "changed").map(({ id }) => id),
      ["ada"],
    );
    assert.deepEqual(await way.items("audit", "--until", "2020-01-01"), []);
    const today = new Date().toISOString().slice(0, 10);
    assert.ok((await way.items("audit", "--since", today)).length > 0);
    assert.match((await way.run(["audit", "--since", "1s", "--type", "device"])).stderr, /No such changes/);
    const [key] = (await way.items("key", "list")).filter(({ role }) => role === "manage");
    const byName = await way.items("audit", "--by", String(key?.["name"]));
    assert.deepEqual(byName, await way.items("audit", "--by", String(key?.["id"])));
    assert.ok(byName.length > 0);
    await refused(way, ["audit", "--by", "nobody"], /no such key: "nobody"/);
    await way.done("device", "profile", "A84041C2F1827D3E", "elsys");
    assert.equal((await way.items("audit", "--id", "A84041C2F1827D3E", "--type", "device")).length, 1);
    assert.match((await way.run(["audit", "--id", "A84041C2F1827D3E"])).stderr, /lower case: --id a84041c2f1827d3e/);
  });

  test("has no secret in it", async () => {
    const all = `${await way.done("audit")}${await way.done("audit", "--json")}`;
    assert.ok(all.includes("secret one"));
    assert.ok(!all.includes(secret.slice(3)) && !all.includes("tm_"));
  });
});
