// The thread that computes forecasts. One takes longer than many reads: in the serving thread, these would wait.

import { constants, getPriority, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { computeForecast, type ForecastTask } from "./compute.ts";

// Reads and writes come first. Only on Linux does a thread have a priority of its own: elsewhere this would be that of the process.
if (process.platform === "linux") setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));

parentPort?.on("message", (task: ForecastTask) => parentPort?.postMessage(computeForecast(task)));
