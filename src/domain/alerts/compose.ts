// Composing: deferred notifications become notifications when they are due.

import type { Instant } from "../instant.ts";

/** `publicUrl`: where links in mail lead; without it customers get no mail. */
export type ComposeSettings = { readonly publicUrl: string | null };

export interface ComposeReads {
  /** The recipient whose deferred notification is due first, and when that is; undefined where none is deferred. */
  nextDeferred(): Promise<{ readonly recipientId: string; readonly dueAt: Instant } | undefined>;
}

export interface ComposeWrites {
  /** What is due for this recipient, or a part of it. False: nothing was due. */
  composeNotifications(recipientId: string, settings: ComposeSettings, now: Instant): Promise<boolean>;
  /** Postpones what is due for this recipient before `until` to that time. */
  postponeNotifications(recipientId: string, until: Instant): Promise<void>;
}
