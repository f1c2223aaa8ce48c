// The program that reads from a service at a given rate, and measures the latency.

import type { Contestant } from "../contestants/contestant.ts";
import type { Reads, ReadTimes } from "../programs/read-at-rate.ts";
import { type BenchProgram, startBenchProgram } from "./bench-program.ts";

/** With the service's own key. `tanks` is their number. */
export const startReader = ({ url, headers }: Contestant, tanks: number): Promise<BenchProgram<Reads, ReadTimes>> =>
  startBenchProgram("read-at-rate", [url, headers["x-api-key"] ?? "", String(tanks)]);
