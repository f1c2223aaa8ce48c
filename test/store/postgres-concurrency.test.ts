import { concurrency } from "./conformance.ts";
import { postgresEngine } from "./engines.ts";

concurrency(postgresEngine);
