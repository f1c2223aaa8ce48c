// The composition root: opens, wires, starts, and stops in order. Everything below it is handed what it needs.

import type { AddressInfo } from "node:net";
import type { Config } from "./config.ts";
import type { Observe } from "./domain/events.ts";
import type { Clock } from "./domain/instant.ts";
import type { Reads, Store } from "./domain/store.ts";
import { doorsOf } from "./doors.ts";
import { listenComplaint, numericHost, urlOf } from "./http/address.ts";
import { type Limits, localLimits } from "./http/limits.ts";
import { LastSeen } from "./http/seen.ts";
import { buildServer, type ServerParts } from "./http/server.ts";
import { createIngest } from "./ingest/ingest.ts";
import { type Mqtt, openMqtt } from "./mqtt.ts";
import { type MetricsBook, openMetrics } from "./observe/metrics.ts";
import { openStore } from "./store/open.ts";
import { VERSION } from "./version.ts";

const PATIENCE: ServerParts["patience"] = { headersMs: 10_000, requestMs: 20_000 };
/** How long a stop waits for requests under way. */
const STOP_MS = 10_000;
const TIDY_MS = 25;

export type App = {
  readonly url: string;
  readonly store: Store;
  readonly stop: () => Promise<void>;
};

export type AppOptions = {
  readonly config: Config;
  readonly log: Observe;
  readonly clock?: Clock;
  readonly patience?: ServerParts["patience"];
  /** What several processes have in common. In one process it is its own. */
  readonly metrics?: MetricsBook;
  readonly limits?: Limits;
  /** The address, where somebody else has opened it. */
  readonly descriptor?: number;
  /** Which of several processes this is, from 1. */
  readonly worker?: number;
};

export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, clock = Date.now, patience = PATIENCE } = options;
  const { metrics = openMetrics(), limits = localLimits(clock), descriptor, worker = 1 } = options;
  const started = performance.now();
  const observe: Observe = (event) => {
    metrics.observe(event);
    log(event);
  };
  const store = await openStore(config.databaseUrl, observe, config);
  const seen = new LastSeen(store.updateLastSeen, clock, observe);
  const { rateLimit, corsOrigins, trustProxy } = config;
  const settings = { version: VERSION, rateLimit, corsOrigins, trustProxy, patience };

  const accept = createIngest(store, clock);
  let server: Awaited<ReturnType<typeof buildServer>> | undefined;
  let mqtt: Mqtt | undefined;

  async function closeAll(): Promise<void> {
    await server?.close();
    await mqtt?.stop();
    await seen.stop();
    await store.close();
    metrics.close();
  }

  try {
    const parts = { reads: timed(store, observe), doors: doorsOf(store, clock, accept), seen, clock, observe, metrics, limits };
    server = await buildServer({ ...parts, ...settings });
    const address = { port: config.port, host: await numericHost(config.host) };
    await server.listen(descriptor === undefined ? address : { ...address, ...{ fd: descriptor } });
    mqtt = await openMqtt({ config, reads: store, accept, limits, observe, clock, worker });
    const { server: listening } = server;
    const url = urlOf(listening.address() as AddressInfo);
    const milliseconds = performance.now() - started;
    observe({ kind: "listening", url, database: shown(config.databaseUrl), workers: 1, milliseconds });
    let stopping: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      const impatient = setTimeout(() => listening.closeAllConnections(), STOP_MS);
      // A connection whose last request was under way is idle only after the stop began.
      const tidy = setInterval(() => listening.closeIdleConnections(), TIDY_MS);
      await closeAll().finally(() => {
        clearTimeout(impatient);
        clearInterval(tidy);
      });
      observe({ kind: "stopped" });
    };
    return {
      url,
      store,
      stop() {
        stopping ??= stop();
        return stopping;
      },
    };
  } catch (error) {
    await closeAll();
    throw listenComplaint(error, config);
  }
}

/** The reading half of the store, with the time each question takes. */
function timed(store: Reads, observe: Observe): Reads {
  function watch<A extends unknown[], T>(question: string, ask: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
    return async (...args) => {
      const started = performance.now();
      let ok = false;
      try {
        const answer = await ask(...args);
        ok = true;
        return answer;
      } finally {
        observe({ kind: "query_completed", query: question, milliseconds: performance.now() - started, ok });
      }
    };
  }
  return {
    customerById: watch("customerById", store.customerById),
    customerPage: watch("customerPage", store.customerPage),
    tankById: watch("tankById", store.tankById),
    tankPage: watch("tankPage", store.tankPage),
    telemetryPage: watch("telemetryPage", store.telemetryPage),
    keyByHash: watch("keyByHash", store.keyByHash),
    ping: watch("ping", store.ping),
  };
}

/** Without the password that a database URL may carry, in front of the host or behind it. */
function shown(databaseUrl: string): string {
  return databaseUrl.replace(/\/\/[^/?#]*@/, "//").replace(/[?#].*$/, "");
}
