// What every engine must do: the whole port of src/domain/store.ts, proven on a real database. An engine runs this suite
// as it is; what only one engine has (files, pragmas) is tested beside it.

import { suite } from "node:test";
import { auditConformance } from "./conformance/audit.ts";
import { boundSenderConformance } from "./conformance/bound-senders.ts";
import { checkConformance } from "./conformance/check.ts";
import { customerOrderConformance } from "./conformance/customer-orders.ts";
import { customerConformance } from "./conformance/customers.ts";
import { deliveryConformance } from "./conformance/deliveries.ts";
import { deviceOrderConformance } from "./conformance/device-orders.ts";
import { deviceConformance } from "./conformance/devices.ts";
import type { Engine } from "./conformance/engine.ts";
import { fleetConformance } from "./conformance/fleet.ts";
import { historyConformance } from "./conformance/histories.ts";
import { keyOrderConformance } from "./conformance/key-orders.ts";
import { keyConformance } from "./conformance/keys.ts";
import { longListConformance } from "./conformance/long-lists.ts";
import { longTelemetryConformance } from "./conformance/long-telemetry.ts";
import { modelConformance } from "./conformance/model-runs.ts";
import { moveConformance } from "./conformance/moves.ts";
import { onceConformance } from "./conformance/once.ts";
import { ownershipConformance } from "./conformance/ownership.ts";
import { pagingConformance } from "./conformance/paging.ts";
import { payloadConformance } from "./conformance/payloads.ts";
import { searchConformance } from "./conformance/searches.ts";
import { tankOrderConformance } from "./conformance/tank-orders.ts";
import { tankConformance } from "./conformance/tanks.ts";
import { telemetryConformance } from "./conformance/telemetry.ts";
import { togetherConformance } from "./conformance/together.ts";
import { upkeepConformance } from "./conformance/upkeep.ts";
import { valueConformance } from "./conformance/values.ts";
import { waitingConformance } from "./conformance/waiting.ts";

export type { Engine } from "./conformance/engine.ts";

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
  suite(`${engine.name}: many at once`, () => togetherConformance(engine));
  suite(`${engine.name}: deliveries at once`, () => deliveryConformance(engine));
  suite(`${engine.name}: against a naive model`, () => modelConformance(engine));
  suite(`${engine.name}: long histories`, () => historyConformance(engine));
}
