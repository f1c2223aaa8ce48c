// PostgreSQL against the suite of all engines.

import { conformance } from "./conformance.ts";
import { postgresEngine } from "./engines.ts";

conformance(postgresEngine);
