// What a parent and its workers say to each other. It travels as JSON. Answers come in the order of the questions.

import type { Config } from "../config.ts";
import type { FatalError } from "../domain/errors.ts";
import type { Limits } from "../http/limits.ts";
import type { Report } from "../observe/report.ts";

/** Where a worker finds the listening address that its parent opened; 0 to 2 are the usual streams, 3 is this channel. */
export const LISTENING = 4;

export type Ask = Parameters<Limits["take"]>;

export type ToWorker =
  /** The first word: as the parent read it, so that all workers have the same. */
  | { readonly kind: "begin"; readonly config: Config }
  /** What is left after each taking. */
  | { readonly kind: "taken"; readonly left: readonly number[] }
  | { readonly kind: "report" }
  | { readonly kind: "reports"; readonly reports: readonly Report[] }
  | { readonly kind: "stop" };

export type Listening = { readonly url: string; readonly database: string; readonly isEmpty: boolean };

export type ToParent =
  | ({ readonly kind: "listening" } & Listening)
  | ({ readonly kind: "failed" } & FatalError)
  | { readonly kind: "take"; readonly asks: readonly Ask[] }
  | { readonly kind: "report"; readonly report: Report }
  /** Asks for the reports of all. */
  | { readonly kind: "reports" };
