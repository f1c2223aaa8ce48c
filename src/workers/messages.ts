// Messages between the supervisor and its workers, sent as JSON. Responses come in the order of the requests.

import type { Config } from "../config.ts";
import type { FatalError } from "../domain/errors.ts";
import type { Limits } from "../http/limits.ts";
import type { MetricsReport } from "../observe/report.ts";

/** The file descriptor of the shared socket in a worker; 0 to 2 are the standard streams, 3 is the message channel. */
export const SOCKET_DESCRIPTOR = 4;

export type TokenRequest = Parameters<Limits["take"]>;

export type ToWorker =
  /** The first message. All workers get the configuration that the supervisor has read. */
  | { readonly kind: "start"; readonly config: Config }
  /** The number of tokens that remain after each request. */
  | { readonly kind: "tokens"; readonly remaining: readonly number[] }
  | { readonly kind: "get_report" }
  | { readonly kind: "all_reports"; readonly reports: readonly MetricsReport[] }
  | { readonly kind: "stop" };

export type Listening = {
  readonly url: string;
  readonly database: string;
  readonly isEmpty: boolean;
  /** Nobody can sign in. */
  readonly hasNoUsers: boolean;
};

export type ToSupervisor =
  | ({ readonly kind: "listening" } & Listening)
  | ({ readonly kind: "failed" } & FatalError)
  | { readonly kind: "take_tokens"; readonly requests: readonly TokenRequest[] }
  | { readonly kind: "report"; readonly report: MetricsReport }
  | { readonly kind: "get_all_reports" };
