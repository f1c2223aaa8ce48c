// The thread that computes forecasts. One takes longer than many reads: in the serving thread, these would wait.

import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { computeForecast, type ForecastTask } from "./compute.ts";

// Reads and writes come first where processors are short. On Linux this is the priority of the thread, elsewhere that of the process.
if (process.platform === "linux") setPriority(constants.priority.PRIORITY_LOW);

parentPort?.on("message", (task: ForecastTask) => parentPort?.postMessage(computeForecast(task)));
