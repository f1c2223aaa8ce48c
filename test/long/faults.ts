// test/faults for longer: 200 kills on each engine, and 30 s of every outage.

import test from "node:test";
import { DISKS } from "../faults/disks.ts";
import { surviveBrokenConnections, surviveKills } from "../faults/kills.ts";
import { surviveFullDisk, survivePostgresAway } from "../faults/outages.ts";
import { SEED } from "../faults/random.ts";
import { POSTGRES, SQLITE } from "../faults/scenario.ts";

const DATABASES = 10;
const KILLS = 20;
const CALM = 4000;
const AWAY_SECONDS = 30;
const BREAKS = 200;

for (const engine of [SQLITE, POSTGRES]) {
  for (let i = 0; i < DATABASES; i++) {
    const seed = `${SEED}-${i}`;
    const processes = i % 2 === 0 ? 1 : 2;
    const what = processes === 1 ? "one process" : "workers and their parent";
    test(`${engine.name}, ${what}: ${KILLS} times kill -9, seed ${seed}`, async (t) => {
      const tell = (killed: number): void => {
        if (killed === KILLS) process.stderr.write(`${engine.name}: ${(i + 1) * KILLS} of ${DATABASES * KILLS} kills\n`);
      };
      await surviveKills(t, { engine, seed, times: KILLS, processes, calm: CALM, tell });
    });
  }
}

for (const kind of DISKS) {
  test(`${kind.name} is full for ${AWAY_SECONDS} s, seed ${SEED}`, async (t) => {
    await surviveFullDisk(t, kind, SEED, AWAY_SECONDS);
  });
}

for (const how of ["fast", "kill"] as const) {
  test(`PostgreSQL is stopped (${how}) for ${AWAY_SECONDS} s, seed ${SEED}`, async (t) => {
    await survivePostgresAway(t, how, SEED, AWAY_SECONDS);
  });
}

for (const engine of [SQLITE, POSTGRES]) {
  test(`${engine.name}: connections to the embedded broker break ${BREAKS} times, seed ${SEED}`, async (t) => {
    await surviveBrokenConnections(t, { engine, seed: SEED, times: BREAKS, calm: 300 });
  });
}
