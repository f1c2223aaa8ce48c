// PostgreSQL against the suite of all engines. Its database sorts as people do, so that every comparison of bytes has to be
// the schema's own.

import { conformance } from "./conformance.ts";
import { postgresEngine } from "./postgres-engine.ts";

conformance(postgresEngine("postgres", "en-US"));
