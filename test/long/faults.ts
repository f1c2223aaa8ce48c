// Everything of test/faults, for longer: two hundred kills on each engine, and half a minute of every outage.

import assert from "node:assert/strict";
import test from "node:test";
import { SEED } from "../faults/chance.ts";
import { DISKS } from "../faults/disks.ts";
import { POSTGRES, SQLITE } from "../faults/engines.ts";
import { surviveFullDisk } from "../faults/full-disk.ts";
import { surviveKills } from "../faults/kills.ts";
import { survivePostgresAway } from "../faults/postgres-away.ts";
import { trialOn } from "../faults/trial.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";

/** So many databases of an engine, each killed so many times. */
const DATABASES = 10;
const KILLS = 20;
const CALM = 4000;
const AWAY_SECONDS = 30;
const CUTS = 200;

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
  test(`${engine.name}: connections to the embedded broker break ${CUTS} times, seed ${SEED}`, async (t) => {
    const trial = await trialOn(t, engine, SEED);
    const service = await trial.start();
    const way = await tcpProxy(t, `mqtt://127.0.0.1:${trial.ports.mqtt}`);
    const stopSending = await trial.send(service, way.url);
    for (let cut = 0; cut < CUTS; cut++) {
      await trial.ledger.untilAcknowledged(trial.chance.whole(1, 300));
      await until("there is a connection to cut", way.disconnect, 30_000);
    }
    await stopSending();
    assert.ok(trial.tally.broken >= CUTS, `${trial.tally.broken} connections broke`);
    await trial.expectAllKept(service);
  });
}
