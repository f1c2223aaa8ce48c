// test/faults for longer: 200 kills on each engine, 30 s of every outage, and 100 times terminated sessions of PostgreSQL. A stop while a
// client reads nothing.

import assert from "node:assert/strict";
import { once } from "node:events";
import test from "node:test";
import { workspace } from "../e2e/program.ts";
import { connectTo, get } from "../e2e/requests.ts";
import { keepAlertsThroughKills } from "../faults/alert-kills.ts";
import { LIMITED_FILES, SMALL_DISK } from "../faults/disks.ts";
import { surviveBrokenConnections, surviveKills, surviveTerminatedSessions } from "../faults/kills.ts";
import { surviveFullDisk, survivePostgresFullLog, survivePostgresOutage } from "../faults/outages.ts";
import { POSTGRES, SEED, SQLITE } from "../faults/scenario.ts";
import { until } from "../support/until.ts";

const DATABASES = 10;
const KILLS = 20;
const MAX_READINGS = 4000;
const OUTAGE_SECONDS = 30;
const BREAKS = 200;
const TERMINATIONS = 100;

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

test(`sessions of PostgreSQL are terminated ${TERMINATIONS} times, seed ${SEED}`, async (t) => {
  await surviveTerminatedSessions(t, { seed: SEED, times: TERMINATIONS, maxReadings: MAX_READINGS });
});

/** How long a stop waits for requests in progress. */
const STOP_SECONDS = 10;

for (const workers of [1, 2]) {
  test(`workers: ${workers}. A client that reads nothing delays a stop by ${STOP_SECONDS} s; exit 0`, async (t) => {
    const here = workspace(t);
    const service = await here.start(["serve", "--workers", String(workers)]);
    const path = "/docs/static/swagger-ui-bundle.js";
    const { text } = await get(service, path, undefined, { "accept-encoding": "identity" });
    const socket = (await connectTo(t, service)).pause();
    const count = 20;
    socket.on("error", () => {}).write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count));
    await until("the first response has begun", () => socket.bytesRead > 0);
    const started = performance.now();
    service.kill("SIGTERM");
    const { code, signal, stderr } = await service.exited;
    const seconds = (performance.now() - started) / 1000;
    assert.deepEqual([code, signal], [0, null]);
    assert.ok(seconds > STOP_SECONDS - 0.5 && seconds < STOP_SECONDS + 1.5, `the stop took ${seconds.toFixed(1)} s`);
    assert.match(stderr, /"event":"stopped".*\n$/);
    const closed = once(socket, "close");
    socket.resume();
    await closed;
    assert.ok(socket.bytesRead < count * text.length, "the rest is not sent");
  });
}
