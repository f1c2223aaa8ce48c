import { concurrency } from "./conformance.ts";
import { sqliteEngine } from "./engines.ts";

concurrency(sqliteEngine);
