// Simulated devices and a real service: what was acknowledged is there, whatever happened on the way.

import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { MAKERS } from "../../src/simulate/makers.ts";
import { startService } from "../support/service.ts";
import { asItMustBe, sentTo } from "./run.ts";

for (const maker of MAKERS) {
  test(`${maker}: backlogs, repeats and shuffled readings end as the telemetry that was measured`, async (t) => {
    const service = await startService(t);
    const { found, ...summary } = await sentTo(service, { makers: [maker], tanks: 4, count: 400 });
    const { sent, duplicate } = summary;
    assert.deepEqual(summary, {
      measured: 400,
      sent,
      resent: 0,
      acknowledged: sent,
      stored: 400,
      duplicate,
      replaced: 0,
      waiting: 0,
      rejected: 0,
      undelivered: 0,
      reasons: [],
    });
    assert.ok(duplicate > 0 && sent === 400 + duplicate, `${duplicate} duplicates of ${sent}`);
    assert.deepEqual(found, asItMustBe(400, 4));
  });
}

test("a second simulation of the same seed finds its tanks, and is verified on its own", async (t) => {
  const service = await startService(t);
  await sentTo(service, { count: 200 });
  const { found, stored } = await sentTo(service, { count: 300 });
  assert.equal(stored, 300);
  assert.deepEqual(found, asItMustBe(300, 10));
});

test("devices that nobody registered: their readings wait, and that is no failure", async (t) => {
  const service = await startService(t);
  const { found, ...summary } = await sentTo(service, { registered: false, count: 200 });
  assert.deepEqual([summary.waiting, summary.acknowledged, summary.rejected], [summary.sent, summary.sent, 0]);
  assert.deepEqual(found, asItMustBe(0, 10));
  // Once they are registered, what waited is there.
  const later = await sentTo(service, { count: 1 });
  assert.equal(later.waiting, 0);
  const whole = { from: undefined, to: undefined, page: 1, size: 100 };
  const { data } = await service.store.tankPage(whole, UNRESTRICTED);
  const pages = await Promise.all(data.map(({ id }) => service.store.telemetryPage(id, whole, UNRESTRICTED)));
  const readings = pages.flatMap((page) => (typeof page === "object" ? page.data : []));
  assert.equal(readings.length, 201);
});

test("a service whose database is away for a while loses nothing, and no reading is given up", async (t) => {
  const service = await startService(t);
  const elsewhere = `${service.databaseFile}.elsewhere`;
  let isAway: Promise<void> | undefined;
  const goAway = async (): Promise<void> => {
    renameSync(service.databaseFile, elsewhere);
    await pause(1500);
    renameSync(elsewhere, service.databaseFile);
  };
  const { found, ...summary } = await sentTo(service, {
    count: 1200,
    rate: 500,
    watch(number) {
      if (number === 400) isAway = goAway();
    },
  });
  await isAway;
  assert.ok(service.events.some(({ kind }) => kind === "store_unavailable"));
  assert.ok(summary.resent > 0, "some were sent again");
  assert.deepEqual([summary.rejected, summary.undelivered, summary.replaced, summary.waiting], [0, 0, 0, 0]);
  assert.equal(summary.stored + summary.duplicate, summary.sent);
  assert.deepEqual(found, asItMustBe(1200, 10));
});
