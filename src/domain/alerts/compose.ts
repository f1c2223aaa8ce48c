// Composing: planned notifications become notifications when they are due.

import type { Instant } from "../instant.ts";

/** `publicUrl`: where links in mail lead; without it customers get no mail. */
export type ComposeSettings = { readonly publicUrl: string | null };

/** `not_configured`: mail to a customer was dropped, because there is no `publicUrl`. */
export type ComposeStep = "nothing_due" | "done" | "not_configured";

export interface ComposeReads {
  /** When the next planned notification is due. */
  nextPlannedAt(): Promise<Instant | null>;
}

export interface ComposeWrites {
  /** For one recipient. */
  composeNotifications(settings: ComposeSettings, now: Instant): Promise<ComposeStep>;
}
