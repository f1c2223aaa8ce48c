// What every sender has, whichever door it uses.

import type { Chance } from "./chance.ts";
import type { Ledger } from "./ledger.ts";
import type { Measurements } from "./measurements.ts";

/** What senders have met with besides acknowledgements. */
export type Tally = {
  /** 503 with `Retry-After`. */
  refused: number;
  /** Connections that broke, or could not be made. */
  broken: number;
  /** Answers that nobody should get. */
  readonly strange: string[];
};

export type SenderParts = {
  readonly ledger: Ledger;
  readonly measurements: Measurements;
  readonly tally: Tally;
  readonly chance: Chance;
  /** The secret of an ingest key. */
  readonly key: string;
};

export type Sender = {
  /** Resolves when nothing is under way any more. */
  readonly stop: () => Promise<void>;
  /** At once, whatever is under way. */
  readonly abandon: () => void;
};
