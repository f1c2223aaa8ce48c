// Alerts of random histories, on both engines, are those of the naive rules.

import { suite } from "node:test";
import { alertProcesses, randomHistories } from "./alerts/suite.ts";
import { postgresEngine, sqliteEngine } from "./engines.ts";

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`${engine.name}: alerts`, () => {
    randomHistories(engine, 3, 25);
    alertProcesses(engine, 1);
  });
}
