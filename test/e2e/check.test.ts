import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { ask, list } from "./ask.ts";
import { customer, importLines, makeKey, manyLines, reading, SMALL_FLEET, tank } from "./fleet.ts";
import { type Home, home } from "./program.ts";

function harm({ path }: Home, sql: string): void {
  const db = new DatabaseSync(path("tanks.db"), { timeout: 5000, enableForeignKeyConstraints: false });
  db.exec(sql);
  db.close();
}

suite("a check", { concurrency: 2 }, () => {
  test("a sound database: nothing on stdout, what was checked on stderr, exit 0", async (t) => {
    const here = home(t);
    await importLines(here, SMALL_FLEET);
    for (const words of [["check"], ["check", "--repair"], ["check", "--json"]]) {
      const { code, stdout, stderr } = await here.run(words);
      assert.deepEqual([code, stdout, stderr], [0, "", "checked 3 customers, 4 tanks, 4 readings: no errors\n"]);
    }
  });

  test("what is wrong: a line each, exit 1, and nothing changed until --repair, which ends in exit 0", async (t) => {
    const here = home(t);
    await importLines(here, SMALL_FLEET);
    harm(here, "UPDATE customer SET tank_count = 9 WHERE id = 'ada'; UPDATE head SET total = 30 WHERE total = 3");
    const found = "customer ada: it has 2 tanks, tank_count says 9\ntank a1: it has 3 readings, the total says 30\n";
    for (let i = 0; i < 2; i++) {
      const { code, stdout, stderr } = await here.run(["check"]);
      assert.deepEqual([code, stdout], [1, found]);
      assert.match(stderr, /^checked 3 customers, 4 tanks, 4 readings: 2 errors\n[^\n]*--repair[^\n]*\n$/);
    }
    const json = await here.run(["check", "--json"]);
    assert.deepEqual(
      json.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
      [
        { where: "customer ada", what: "it has 2 tanks, tank_count says 9", repaired: false },
        { where: "tank a1", what: "it has 3 readings, the total says 30", repaired: false },
      ],
    );
    const repaired = await here.run(["check", "--repair"]);
    assert.deepEqual([repaired.code, repaired.stdout], [0, found.replaceAll("\n", " (repaired)\n")]);
    assert.match(repaired.stderr, /: 2 errors, 2 repaired\nchecking again\nchecked .*: no errors\n$/);
    assert.equal((await here.run(["check"])).code, 0);
  });

  test("what cannot be repaired is told with what to do, and stays exit 1", async (t) => {
    const here = home(t);
    await importLines(here, SMALL_FLEET);
    harm(here, "UPDATE tank SET capacity = -1 WHERE id = 'b1'; UPDATE customer SET tank_count = 0 WHERE id = 'bob'");
    const { code, stdout, stderr } = await here.run(["check", "--repair"]);
    assert.equal(code, 1);
    assert.match(stdout, /^customer bob: .* \(repaired\)\ntank b1: capacity: must be above 0; correct it and import it again\n$/);
    assert.match(stderr, /: 2 errors, 1 repaired\n$/);
    await importLines(here, [tank("b1", "bob", { capacity: 5 })], "right.ndjson");
    assert.equal((await here.run(["check"])).code, 0);
  });

  test("beside a service and an import it finds nothing, and disturbs neither", async (t) => {
    const here = home(t);
    await importLines(here, manyLines(5000), "first.ndjson");
    const key = await makeKey(here);
    const service = await here.start();
    const importing = importLines(here, manyLines(60_000), "more.ndjson");
    let isDone = false;
    void importing.finally(() => {
      isDone = true;
    });
    for (let looks = 0; !isDone || looks < 2; looks++) {
      const { code, stdout, stderr } = await here.run(["check", looks % 2 === 0 ? "--json" : "--repair"]);
      assert.deepEqual([code, stdout], [0, ""], stderr);
    }
    await importing;
    assert.equal((await list(service, "/v1/tanks", key)).total_items, 100);
    assert.equal((await service.stop()).code, 0);
  });

  test("a repair beside a service is seen by it", async (t) => {
    const here = home(t);
    const readings = Array.from({ length: 1000 }, (_, i) => reading("t", i, i % 101));
    await importLines(here, [customer("c"), tank("t", "c"), ...readings]);
    const key = await makeKey(here);
    const service = await here.start();
    const path = `/v1/tanks/t/telemetry?created_at_gte=${reading("t", 1, 0)["created_at"]}`;
    harm(here, "UPDATE head SET total = 7; DELETE FROM reading_index");
    assert.equal((await list(service, "/v1/tanks/t/telemetry", key)).total_items, 7);
    const refused = await ask(service, path, key);
    assert.equal(refused.status, 500, "better no answer than a wrong one");
    assert.equal((await here.run(["check", "--repair"])).code, 0);
    assert.equal((await list(service, path, key)).total_items, 999);
    assert.match((await service.stop()).stderr, /the rank index is damaged .* check --repair/);
  });
});
