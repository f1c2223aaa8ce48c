// What every engine must do: the whole port of src/domain/store.ts, proven on a real database. An engine runs this suite
// as it is; what only one engine has (files, pragmas) is tested beside it.

import { suite, test } from "node:test";
import { auditConformance } from "./conformance/audit.ts";
import { boundSenderConformance } from "./conformance/bound-senders.ts";
import { checkConformance } from "./conformance/check.ts";
import { concurrencyConformance } from "./conformance/concurrency.ts";
import { customerOrderConformance } from "./conformance/customer-orders.ts";
import { customerConformance } from "./conformance/customers.ts";
import { deviceOrderConformance } from "./conformance/device-orders.ts";
import { deviceConformance } from "./conformance/devices.ts";
import { fleetConformance } from "./conformance/fleet.ts";
import { keyOrderConformance } from "./conformance/key-orders.ts";
import { keyConformance } from "./conformance/keys.ts";
import { longListConformance } from "./conformance/long-lists.ts";
import { longTelemetryConformance } from "./conformance/long-telemetry.ts";
import { moveConformance } from "./conformance/moves.ts";
import { onceConformance } from "./conformance/once.ts";
import { ownershipConformance } from "./conformance/ownership.ts";
import { pagingConformance } from "./conformance/paging.ts";
import { payloadConformance } from "./conformance/payloads.ts";
import { searchConformance } from "./conformance/searches.ts";
import { tankOrderConformance } from "./conformance/tank-orders.ts";
import { tankConformance } from "./conformance/tanks.ts";
import { telemetryConformance } from "./conformance/telemetry.ts";
import { upkeepConformance } from "./conformance/upkeep.ts";
import { valueConformance } from "./conformance/values.ts";
import { waitingConformance } from "./conformance/waiting.ts";
import type { Engine } from "./engines.ts";
import { runAgainstModel, runThroughExport } from "./random/run.ts";

export function conformance(engine: Engine): void {
  suite(`${engine.name}: customers`, () => customerConformance(engine));
  suite(`${engine.name}: tanks`, () => tankConformance(engine));
  suite(`${engine.name}: owners and devices`, () => ownershipConformance(engine));
  suite(`${engine.name}: telemetry`, () => telemetryConformance(engine));
  suite(`${engine.name}: order, ranges and pages`, () => pagingConformance(engine));
  suite(`${engine.name}: long telemetry`, () => longTelemetryConformance(engine));
  suite(`${engine.name}: long lists`, () => longListConformance(engine));
  suite(`${engine.name}: extreme values`, () => valueConformance(engine));
  suite(`${engine.name}: readings by device`, () => deviceConformance(engine));
  suite(`${engine.name}: what waits`, () => waitingConformance(engine));
  suite(`${engine.name}: payloads`, () => payloadConformance(engine));
  suite(`${engine.name}: devices that move`, () => moveConformance(engine));
  suite(`${engine.name}: senders bound to a customer`, () => boundSenderConformance(engine));
  suite(`${engine.name}: orders about customers`, () => customerOrderConformance(engine));
  suite(`${engine.name}: orders about tanks`, () => tankOrderConformance(engine));
  suite(`${engine.name}: orders about devices`, () => deviceOrderConformance(engine));
  suite(`${engine.name}: orders about keys`, () => keyOrderConformance(engine));
  suite(`${engine.name}: orders that arrive twice`, () => onceConformance(engine));
  suite(`${engine.name}: the audit log`, () => auditConformance(engine));
  suite(`${engine.name}: the fleet`, () => fleetConformance(engine));
  suite(`${engine.name}: searches`, () => searchConformance(engine));
  suite(`${engine.name}: keys`, () => keyConformance(engine));
  suite(`${engine.name}: upkeep`, () => upkeepConformance(engine));
  suite(`${engine.name}: check`, () => checkConformance(engine));
}

/** Random writes and reads beside a model. The title of each test has its seed; TEST_SEED repeats it. */
export function randomRuns(engine: Engine): void {
  const seed = process.env["TEST_SEED"] ?? String(Date.now() % 1_000_000);
  for (const size of ["few", "many"] as const) {
    test(`${engine.name}: random writes and reads of ${size} objects give the results of the model (seed ${seed})`, async (t) => {
      await runAgainstModel(engine, t, seed, size);
    });
  }

  test(`${engine.name}: an export of a random database is imported as it was (seed ${seed})`, async (t) => {
    await runThroughExport(engine, t, seed);
  });
}

export function concurrency(engine: Engine): void {
  suite(`${engine.name}: concurrent writes and reads`, () => concurrencyConformance(engine));
}
