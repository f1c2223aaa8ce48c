// test/faults for longer: 200 kills on each engine, and 30 s of every outage.

import test from "node:test";
import { keepAlertsThroughKills } from "../faults/alert-kills.ts";
import { LIMITED_FILES, SMALL_DISK } from "../faults/disks.ts";
import { surviveBrokenConnections, surviveKills } from "../faults/kills.ts";
import { surviveFullDisk, survivePostgresFullLog, survivePostgresOutage } from "../faults/outages.ts";
import { POSTGRES, SEED, SQLITE } from "../faults/scenario.ts";

const DATABASES = 10;
const KILLS = 20;
const MAX_READINGS = 4000;
const OUTAGE_SECONDS = 30;
const BREAKS = 200;

for (const engine of [SQLITE, POSTGRES]) {
  for (let i = 0; i < DATABASES; i++) {
    const seed = `${SEED}-${i}`;
    const processes = i % 2 === 0 ? 1 : 2;
    const what = processes === 1 ? "one process" : "workers and their supervisor";
    test(`${engine.name}, ${what}: ${KILLS} times kill -9, seed ${seed}`, async (t) => {
      await surviveKills(t, { engine, seed, times: KILLS, processes, maxReadings: MAX_READINGS });
    });
  }
}

for (const [engine, services, workers] of [
  [SQLITE, 1, 1],
  [SQLITE, 1, 2],
  [POSTGRES, 3, 2],
] as const) {
  test(`${engine.name}, ${services} × ${workers}: ${KILLS} times kill -9 while alerts open and close, seed ${SEED}`, async (t) => {
    await keepAlertsThroughKills(t, { engine, seed: SEED, times: KILLS, services, workers });
  });
}

for (const kind of [LIMITED_FILES, SMALL_DISK]) {
  test(`full for ${OUTAGE_SECONDS} s: ${kind.name}, seed ${SEED}`, { skip: kind.skip }, async (t) => {
    await surviveFullDisk(t, kind, SEED, OUTAGE_SECONDS);
  });
}

for (const how of ["fast", "kill"] as const) {
  test(`PostgreSQL is stopped (${how}) for ${OUTAGE_SECONDS} s, seed ${SEED}`, async (t) => {
    await survivePostgresOutage(t, how, SEED, OUTAGE_SECONDS);
  });
}

test(`the disk of PostgreSQL's log is full for ${OUTAGE_SECONDS} s, seed ${SEED}`, { skip: SMALL_DISK.skip }, async (t) => {
  await survivePostgresFullLog(t, SEED, OUTAGE_SECONDS);
});

for (const engine of [SQLITE, POSTGRES]) {
  test(`${engine.name}: connections to the MQTT endpoint break ${BREAKS} times, seed ${SEED}`, async (t) => {
    await surviveBrokenConnections(t, { engine, seed: SEED, times: BREAKS, maxReadings: 300 });
  });
}
