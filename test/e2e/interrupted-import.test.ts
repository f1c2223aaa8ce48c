import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { list } from "./ask.ts";
import { makeKey, manyLines, ndjson } from "./fleet.ts";
import { home } from "./program.ts";

const LINES = 150_000;
const KILLS = 4;
const MARGIN_OF_STARTING = 0.35;

test("an import killed at random moments and run again ends as if nothing had happened", async (t) => {
  const here = home(t);
  writeFileSync(here.path("many.ndjson"), ndjson(manyLines(LINES)));
  const undisturbed = { env: { DATABASE_URL: "sqlite:undisturbed.db" } };
  const started = performance.now();
  const whole = await here.run(["import", "many.ndjson", "--json"], undisturbed);
  const duration = performance.now() - started;
  assert.equal(whole.stdout, `{"read":${LINES},"new":${LINES},"changed":0,"unchanged":0,"rejected":0}\n`);

  for (let kill = 0; kill < KILLS; kill++) {
    const moment = duration * (MARGIN_OF_STARTING + Math.random() * 0.4);
    t.diagnostic(`killed after ${Math.round(moment)} ms of about ${Math.round(duration)}`);
    const importing = here.launch(["import", "many.ndjson"]);
    await pause(moment);
    importing.kill("SIGKILL");
    assert.equal((await importing.ended).signal, "SIGKILL");
  }

  // What the last kill left is whole in itself: the totals are those of the lines that are there.
  const halfway = await here.run(["export"]);
  const counts = Map.groupBy(halfway.stdout.matchAll(/"tank_id":"([^"]+)"/g), ([, tank]) => tank);
  const service = await here.start();
  const key = await makeKey(here);
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
  assert.equal(again.stdout, `{"read":${LINES},"new":0,"changed":0,"unchanged":${LINES},"rejected":0}\n`);
});
