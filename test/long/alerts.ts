// Many random histories of alerts on both engines. TEST_SEED=482913 repeats the runs of one seed.

import { suite } from "node:test";
import { alertProcesses, randomHistories } from "../store/alerts/suite.ts";
import { postgresEngine, sqliteEngine } from "../store/engines.ts";

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`${engine.name}: alerts`, () => {
    randomHistories(engine, 150, 120);
    alertProcesses(engine, 20);
  });
}
