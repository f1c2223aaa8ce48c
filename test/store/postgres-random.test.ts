import { randomRuns } from "./conformance.ts";
import { postgresEngine } from "./engines.ts";

randomRuns(postgresEngine);
