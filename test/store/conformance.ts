// What every engine must do: the whole port of src/domain/store.ts, proven on a real database. An engine runs this suite
// as it is; what only one engine has (files, pragmas) is tested beside it.

import { suite } from "node:test";
import { checkConformance } from "./conformance/check.ts";
import { customerConformance } from "./conformance/customers.ts";
import type { Engine } from "./conformance/engine.ts";
import { historyConformance } from "./conformance/histories.ts";
import { keyConformance } from "./conformance/keys.ts";
import { longListConformance } from "./conformance/long-lists.ts";
import { longTelemetryConformance } from "./conformance/long-telemetry.ts";
import { modelConformance } from "./conformance/model-runs.ts";
import { ownershipConformance } from "./conformance/ownership.ts";
import { pagingConformance } from "./conformance/paging.ts";
import { tankConformance } from "./conformance/tanks.ts";
import { telemetryConformance } from "./conformance/telemetry.ts";
import { togetherConformance } from "./conformance/together.ts";
import { upkeepConformance } from "./conformance/upkeep.ts";
import { valueConformance } from "./conformance/values.ts";

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
  suite(`${engine.name}: keys`, () => keyConformance(engine));
  suite(`${engine.name}: upkeep`, () => upkeepConformance(engine));
  suite(`${engine.name}: check`, () => checkConformance(engine));
  suite(`${engine.name}: many at once`, () => togetherConformance(engine));
  suite(`${engine.name}: against a naive model`, () => modelConformance(engine));
  suite(`${engine.name}: long histories`, () => historyConformance(engine));
}
