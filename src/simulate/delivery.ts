// From messages that wait to messages that are safe: each is sent until it is acknowledged, however often that takes.

import type { Instant } from "../domain/instant.ts";
import type { Message } from "./message.ts";
import type { Outbox } from "./outbox.ts";

/** What the service said of a reading. A broker says no more than that it is safe. */
export type Outcome = {
  readonly status: "stored" | "duplicate" | "replaced" | "waiting" | "rejected" | "acknowledged";
  readonly reason?: string;
};

/** A way to the service. */
export type Way = {
  /** How many deliveries may be under way at once. */
  readonly lanes: number;
  /** How many messages in our own words may travel together. */
  readonly most: number;
  /**
   * Resolves when all of it is safe, with an outcome for each reading in order; nothing else ends it but an abort, or what
   * trying again does not mend. `again` is told how many readings are sent once more.
   */
  readonly deliver: (messages: readonly Message[], again: (readings: number) => void, hurry: AbortSignal) => Promise<Outcome[]>;
  readonly close: () => Promise<void>;
};

/** Told as it happens; by number of a reading, or how many of them. */
export type Told = {
  readonly measured: (number: number, device: number, at: Instant, fill: number) => void;
  readonly sent: (readings: number) => void;
  readonly again: (readings: number) => void;
  readonly outcome: (number: number, outcome: Outcome) => void;
  readonly undelivered: (readings: number) => void;
};

/** Until the outbox is closed and empty. `fail` is told what trying again does not mend; after an abort, the rest is undelivered. */
export async function deliverAll(
  outbox: Outbox,
  way: Way,
  told: Told,
  fail: (error: unknown) => void,
  hurry: AbortSignal,
): Promise<void> {
  const lane = async (): Promise<void> => {
    for (;;) {
      const messages = await outbox.take(way.most);
      if (messages === undefined) return;
      await deliver(messages, way, told, hurry).catch(fail);
    }
  };
  await Promise.all(Array.from({ length: way.lanes }, lane));
}

async function deliver(messages: readonly Message[], way: Way, told: Told, hurry: AbortSignal): Promise<void> {
  const numbers = messages.flatMap((message) => message.numbers);
  if (hurry.aborted) {
    told.undelivered(numbers.length);
    return;
  }
  told.sent(numbers.length);
  try {
    const outcomes = await way.deliver(messages, (readings) => told.again(readings), hurry);
    numbers.forEach((number, i) => {
      told.outcome(number, outcomes[i] ?? UNSAID);
    });
  } catch (error) {
    told.undelivered(numbers.length);
    if (!hurry.aborted) throw error;
  }
}

const UNSAID: Outcome = { status: "rejected", reason: "the answer tells of fewer readings than were sent" };
