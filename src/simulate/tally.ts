// What became of a simulation's readings, counted; and entered into a book, where one is kept.

import type { Instant } from "../domain/instant.ts";
import type { Outcome, Told } from "./delivery.ts";
import type { Ledger } from "./ledger.ts";

const REASONS_KEPT = 5;

/** In readings; one that is repeated counts each time it is sent. */
export type Summary = {
  readonly measured: number;
  readonly sent: number;
  /** Sent once more, since they were not acknowledged. */
  readonly resent: number;
  readonly acknowledged: number;
  /** What the service said of those acknowledged; a broker says nothing. */
  readonly stored: number;
  readonly duplicate: number;
  readonly replaced: number;
  readonly waiting: number;
  readonly rejected: number;
  readonly undelivered: number;
  /** Why some were rejected: the first reasons that differ. */
  readonly reasons: readonly string[];
};

export class Tally implements Told {
  readonly #ledger: Ledger | undefined;
  readonly #statuses = { stored: 0, duplicate: 0, replaced: 0, waiting: 0, rejected: 0, acknowledged: 0 };
  readonly #reasons = new Set<string>();
  #measured = 0;
  #sent = 0;
  #resent = 0;
  #undelivered = 0;

  constructor(ledger?: Ledger) {
    this.#ledger = ledger;
  }

  measured(number: number, device: number, at: Instant, fill: number): void {
    this.#measured++;
    this.#ledger?.note(number, device, at, fill);
  }

  sent(readings: number): void {
    this.#sent += readings;
  }

  again(readings: number): void {
    this.#resent += readings;
  }

  undelivered(readings: number): void {
    this.#undelivered += readings;
  }

  outcome(number: number, outcome: Outcome): void {
    const { status, reason = "" } = outcome;
    this.#statuses[status]++;
    if (status === "rejected" && this.#reasons.size < REASONS_KEPT) this.#reasons.add(reason);
    this.#ledger?.outcome(number, outcome);
  }

  summary(): Summary {
    const { acknowledged: unsaid, ...said } = this.#statuses;
    const acknowledged = unsaid + said.stored + said.duplicate + said.replaced + said.waiting + said.rejected;
    const [measured, sent, resent, undelivered] = [this.#measured, this.#sent, this.#resent, this.#undelivered];
    return { measured, sent, resent, acknowledged, ...said, undelivered, reasons: [...this.#reasons] };
  }
}
