// The embedded engine against the suite of all engines.

import { conformance } from "./conformance.ts";
import { sqliteEngine } from "./sqlite-engine.ts";

conformance(sqliteEngine);
