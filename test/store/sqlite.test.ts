// The embedded engine against the suite of all engines.

import { conformance } from "./conformance.ts";
import { sqlite } from "./engines/sqlite.ts";

conformance(sqlite);
