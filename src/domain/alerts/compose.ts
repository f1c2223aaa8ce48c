// Composing: planned notifications become notifications when they are due.

import type { Instant } from "../instant.ts";

/** `publicUrl`: where links in mail lead; without it customers get no mail. */
export type ComposeSettings = { readonly publicUrl: string | null };

export interface ComposeReads {
  /** When the next planned notification is due. */
  nextPlannedAt(): Promise<Instant | null>;
}

export interface ComposeWrites {
  /** For one recipient. False: nothing was due. */
  composeNotifications(settings: ComposeSettings, now: Instant): Promise<boolean>;
}
