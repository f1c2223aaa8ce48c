// Customers kept by the command line.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { before, suite, test } from "node:test";
import { customer, SMALL_FLEET, tank } from "./fleet.ts";
import { keeping, refused, WAYS, type Way } from "./keeping.ts";
import { sharedLife } from "./program.ts";

const ids = (items: readonly { readonly [name: string]: unknown }[]): unknown[] => items.map(({ id }) => id);

for (const on of WAYS) {
  suite(`customers, on ${on}`, () => {
    const life = sharedLife();
    let way: Way;

    before(async () => {
      way = await keeping(life, on, SMALL_FLEET);
    });

    test("create prints the id alone, show prints all fields, update changes the given ones", async () => {
      const { code, stdout, stderr } = await way.run([
        ...["customer", "create", "--name", "Brenner Gas GmbH", "--email", "office@brenner.example"],
        ...["--phone", "+49 30 5550", "--verified"],
      ]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^cus_\w+\n$/);
      assert.match(stderr, /^customer cus_\w+ \(Brenner Gas GmbH\) created\n$/);
      const id = stdout.trim();
      const [made] = await way.items("customer", "show", id);
      assert.deepEqual(
        [made?.["name"], made?.["phone"], made?.["is_verified"], made?.["tank_count"], made?.["deleted"]],
        ["Brenner Gas GmbH", "+49 30 5550", true, 0, false],
      );
      const [changed] = await way.items("customer", "update", id, "--phone", "", "--no-verified");
      assert.deepEqual(
        [changed?.["name"], changed?.["phone"], changed?.["is_verified"], changed?.["verified_at"]],
        ["Brenner Gas GmbH", null, false, null],
      );
      const shown = await way.done("customer", "show", id);
      assert.match(shown, /^email +office@brenner\.example$/m);
      assert.match(shown, /^phone +-$/m);
    });

    test("a customer with tanks is deleted and restored with --tanks and --no-tanks", async () => {
      await refused(way, ["customer", "delete", "ada"], /owns 2 tanks.*--tanks/);
      await way.done("customer", "delete", "ada", "--tanks");
      assert.deepEqual(ids(await way.items("customer", "list", "--deleted")), ["ada", "gone"].toSorted(byNewest));
      assert.deepEqual(ids(await way.items("tank", "list", "--owner", "ada")), []);
      const { stderr } = await way.run(["customer", "restore", "ada"]);
      assert.match(stderr, /customer ada \(.*\) restored, with 2 tanks/);
      assert.deepEqual(ids(await way.items("tank", "list", "--owner", "ada")), ["a2", "a1"]);
      await way.done("customer", "delete", "bob", "--tanks");
      const [bob] = await way.items("customer", "restore", "bob", "--no-tanks");
      assert.deepEqual([bob?.["deleted"], bob?.["tank_count"]], [false, 0]);
    });

    test("list filters by the start of a name or e-mail address", async () => {
      assert.deepEqual(ids(await way.items("customer", "list", "--name", "customer a")), ["ada"]);
      assert.deepEqual(ids(await way.items("customer", "list", "--email", "BOB@")), ["bob"]);
      const { code, stdout, stderr } = await way.run(["customer", "list", "--name", "nobody & co"]);
      assert.deepEqual([code, stdout], [0, ""]);
      assert.match(stderr, /No customers found/);
    });

    test("all errors are reported at once, by flag", async () => {
      const { code, stdout, stderr } = await way.run(["customer", "create", "--name", "", "--email", "nowhere"]);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, /^tank-monitor: customer create: 2 errors\n( {2}--(name|email): .+\n){2}$/);
      assert.equal(existsSync(way.here.path("never.db")), false);
    });
  });
}

/** The two were made at one instant: the greater id goes first. */
const byNewest = (a: string, b: string): number => (a < b ? 1 : -1);

suite("a long list of customers", () => {
  const life = sharedLife();
  let way: Way;
  const COUNT = 350;

  before(async () => {
    const start = Date.UTC(2026, 0, 1);
    const lines = Array.from({ length: COUNT }, (_, i) =>
      customer(`c${i}`, { created_at: new Date(start + i * 1000).toISOString() }),
    );
    way = await keeping(life, "a running service", [...lines, tank("t1", "c7")]);
  });

  test("prints every customer once, newest first, up to --limit", async () => {
    const all = await way.items("customer", "list");
    assert.deepEqual(
      ids(all),
      Array.from({ length: COUNT }, (_, i) => `c${COUNT - 1 - i}`),
    );
    assert.deepEqual(ids(await way.items("customer", "list", "--limit", "101")), ids(all).slice(0, 101));
  });

  test("aligns the columns of a table across pages", async () => {
    const lines = (await way.done("customer", "list")).trimEnd().split("\n");
    assert.equal(lines.length, COUNT + 1);
    assert.match(lines[0] ?? "", /^ID +TANKS +EMAIL +NAME$/);
    const places = lines.slice(1).map((line) => line.indexOf("@customers.example") - line.indexOf(" "));
    assert.equal(new Set(lines.slice(1).map((line) => line.indexOf("Customer c"))).size, 1);
    assert.ok(places.every((place) => place > 0));
    assert.match(lines.find((line) => line.startsWith("c7 ")) ?? "", /^c7 +1 /);
  });
});
