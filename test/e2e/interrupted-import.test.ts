import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createKey, manyLines, ndjson } from "./fixtures.ts";
import { workspace } from "./program.ts";
import { list } from "./requests.ts";

const LINES = 200_000;
const KILLS = 3;

/** How large a database is by now, seen from outside; 0 before it is there. */
function pagesOf(file: string): number {
  if (!existsSync(file)) return 0;
  const db = new DatabaseSync(file, { readOnly: true, timeout: 1000 });
  try {
    return Number(db.prepare("PRAGMA page_count").get()?.["page_count"]);
  } finally {
    db.close();
  }
}

test("an import killed at random moments and run again ends as if nothing had happened", async (t) => {
  const here = workspace(t);
  writeFileSync(here.path("many.ndjson"), ndjson(manyLines(LINES)));
  const undisturbed = { env: { DATABASE_URL: "sqlite:undisturbed.db" } };
  const whole = await here.run(["import", "many.ndjson", "--json"], undisturbed);
  assert.equal(whole.stdout, `{"read":${LINES},"new":${LINES},"changed":0,"unchanged":0,"rejected":0,"waiting":0}\n`);

  // Each kill comes a random way further than the one before it.
  for (let kill = 0; kill < KILLS; kill++) {
    const share = (kill + 0.2 + Math.random() * 0.7) / (KILLS + 1);
    t.diagnostic(`killed when about ${Math.round(share * 100)} % were in`);
    const importing = here.launch(["import", "many.ndjson"]);
    while (pagesOf(here.path("tanks.db")) < share * pagesOf(here.path("undisturbed.db"))) await pause(5);
    await pause(Math.random() * 20);
    importing.kill("SIGKILL");
    assert.equal((await importing.exited).signal, "SIGKILL");
  }

  // What the last kill left is whole in itself: the totals are those of the lines that are there.
  const halfway = await here.run(["export"]);
  const readings = halfway.stdout.split("\n").filter((line) => line.includes('"object":"telemetry"'));
  const counts = Map.groupBy(readings, (line) => /"tank_id":"([^"]+)"/.exec(line)?.[1]);
  const service = await here.start();
  const key = await createKey(here);
  for (const tank of ["tank-0", "tank-57", "tank-99"]) {
    const { total_items } = await list(service, `/v1/tanks/${tank}/telemetry`, key);
    assert.equal(total_items, counts.get(tank)?.length ?? 0);
  }
  await service.stop();

  const last = await here.run(["import", "many.ndjson", "--json"]);
  const summary = JSON.parse(last.stdout) as Record<string, number>;
  t.diagnostic(`the last run found ${last.stdout.trim()}`);
  assert.deepEqual([summary["read"], summary["changed"], summary["rejected"]], [LINES, 0, 0]);
  assert.ok((summary["unchanged"] ?? 0) > 0 && (summary["new"] ?? 0) > 0, "the kills fell in the middle of the work");

  const [mended, expected] = await Promise.all([here.run(["export"]), here.run(["export"], undisturbed)]);
  assert.ok(mended.stdout === expected.stdout, "the export differs from that of an undisturbed import");
  const again = await here.run(["import", "many.ndjson", "--json"]);
  assert.equal(again.stdout, `{"read":${LINES},"new":0,"changed":0,"unchanged":${LINES},"rejected":0,"waiting":0}\n`);
});
