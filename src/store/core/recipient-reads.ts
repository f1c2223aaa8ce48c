// Reads of planned mail, and of links that were sent, in SQL for both engines.

import type { ComposeReads } from "../../domain/alerts/compose.ts";
import type { Instant } from "../../domain/instant.ts";
import type { RecipientReads } from "../../domain/verification.ts";
import type { Prepare } from "./reads.ts";
import { serviceStateOn } from "./service-state.ts";
import { verificationTables } from "./verification-tables.ts";

export function recipientReads(prepare: Prepare): RecipientReads & ComposeReads {
  const nextPlanned = prepare("SELECT recipient, due_at FROM planned_notification ORDER BY due_at, id LIMIT 1"); // planned_notification_due
  const { verification } = verificationTables(prepare);
  const serviceState = serviceStateOn(prepare);
  return {
    async nextPlanned() {
      const [row] = await nextPlanned();
      return row && { recipientId: String(row[0]), dueAt: row[1] as Instant };
    },
    verification,
    unsubscribeSecret: () => serviceState("unsubscribe_secret"),
  };
}
