// The thread that computes forecasts, seen from the serving thread.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { ComputedForecast } from "../domain/forecast/stored.ts";
import type { ForecastTask } from "./compute.ts";

const SCRIPT = new URL("./forecast-thread-main.ts", import.meta.url);

export class ForecastThread {
  #worker: Worker | undefined;

  /** One at a time. The first call starts the thread, and the first after it has ended by an error. */
  async compute(task: ForecastTask): Promise<ComputedForecast> {
    this.#worker ??= this.#start();
    const buffers = task.parts.flatMap(({ instants, fills }) => [instants.buffer, fills.buffer] as ArrayBuffer[]);
    this.#worker.postMessage(task, buffers);
    const [computed] = await once(this.#worker, "message");
    return computed as ComputedForecast;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    // It keeps nothing for long: a small young generation is enough.
    const worker = new Worker(SCRIPT, { resourceLimits: { maxYoungGenerationSizeMb: 8 } });
    // The call in progress is rejected with it.
    worker.on("error", () => {
      this.#worker = undefined;
    });
    return worker;
  }
}
