// The embedded engine against the suite of all engines.

import { conformance } from "./conformance.ts";
import { sqliteEngine } from "./engines.ts";

conformance(sqliteEngine);
