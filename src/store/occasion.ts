// When records are put without a word of who does it: an import, now.

import type { AuditContext } from "../domain/audit.ts";

export const importNow = (): AuditContext => ({ by: "import", at: Date.now() });
