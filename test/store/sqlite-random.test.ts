import { randomRuns } from "./conformance.ts";
import { sqliteEngine } from "./engines.ts";

randomRuns(sqliteEngine);
