// The thread that computes forecasts. One takes longer than many reads: in the serving thread, these would wait.

import { parentPort } from "node:worker_threads";
import { computeForecast, type ForecastTask } from "./compute.ts";

parentPort?.on("message", (task: ForecastTask) => parentPort?.postMessage(computeForecast(task)));
