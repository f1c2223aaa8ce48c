// The composition root: opens, wires, starts and stops the parts of the service in order.

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { startSweep } from "./alerts/sweep.ts";
import { type Config, managementSettings, missingForMail, storeSettings } from "./config.ts";
import { StepScheduler } from "./domain/fair-queue.ts";
import type { Clock } from "./domain/instant.ts";
import { UNRESTRICTED } from "./domain/key.ts";
import type { LogEvent, Observe } from "./domain/log-events.ts";
import type { RepeatedTask } from "./domain/repeated-task.ts";
import type { Store } from "./domain/store.ts";
import { ForecastJob } from "./forecast/job.ts";
import { listenError, numericHost, urlOf } from "./http/address.ts";
import { LastSeen } from "./http/last-seen.ts";
import { type Limits, localLimits, UNLIMITED } from "./http/limits.ts";
import { ManagementService } from "./http/management.ts";
import { fleetMapJson } from "./http/routes/map.ts";
import { WRITES_UNAVAILABLE } from "./http/routes/operations.ts";
import { buildServer, type ServerOptions } from "./http/server.ts";
import { SignInService } from "./http/sign-in.ts";
import { createHttpIngest } from "./ingest/decode.ts";
import { createIngest, ingestFrom } from "./ingest/ingest.ts";
import { ingestInSlices } from "./ingest/slices.ts";
import { type Mqtt, openMqtt } from "./mqtt.ts";
import { startComposer } from "./notify/compose.ts";
import { type NotificationService, startNotificationService } from "./notify/notification-service.ts";
import { cached } from "./observe/cached.ts";
import { fleetMetrics, forecastMetrics } from "./observe/fleet-metrics.ts";
import { type MetricsCollector, openMetrics } from "./observe/metrics.ts";
import { notificationReport } from "./observe/notification-report.ts";
import type { MetricsReport } from "./observe/report.ts";
import { openStore } from "./store/open.ts";
import { VERSION } from "./version.ts";

const REQUEST_TIMEOUTS: ServerOptions["timeouts"] = { headersMs: 10_000, requestMs: 20_000 };
/** How long a stop waits for requests in progress. */
const STOP_MS = 10_000;
const CLOSE_IDLE_MS = 25;
/** The part of STOP_MS that is reserved for recording the results of notifications. */
const RECORD_MS = 1000;

export type App = {
  readonly url: string;
  readonly store: Store;
  readonly stop: () => Promise<void>;
};

export type AppOptions = {
  readonly config: Config;
  readonly log: Observe;
  readonly clock?: Clock;
  readonly timeouts?: ServerOptions["timeouts"];
  /** Shared by several workers; by default this process has its own. */
  readonly metrics?: MetricsCollector;
  readonly limits?: Limits;
  /** A socket that the supervisor has bound. */
  readonly socketDescriptor?: number;
  /** The number of this worker, from 1. */
  readonly worker?: number;
};

export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, clock = Date.now, timeouts = REQUEST_TIMEOUTS } = options;
  const { metrics = openMetrics(), socketDescriptor, worker = 1 } = options;
  const limits = config.rateLimit === 0 ? UNLIMITED : (options.limits ?? localLimits(clock));
  const startedAt = performance.now();
  const observe = metrics.withCounters(log);
  let notificationService: NotificationService | undefined;
  let forecasts: ForecastJob | undefined;
  let canWrite = true;
  function observeStore(event: LogEvent): void {
    observe(event);
    if (event.kind === "writes_unavailable" || event.kind === "writes_recovered") canWrite = event.kind === "writes_recovered";
    if (event.kind === "notifications_created") notificationService?.wake();
    if (event.kind === "write_completed" && event.write === "ingest") forecasts?.wake();
  }
  const store = await openStore(config.databaseUrl, observeStore, storeSettings(config));
  const lastSeen = new LastSeen(store.updateLastSeen, clock, observe);
  const scheduler = new StepScheduler();
  const ingest = ingestInSlices(createIngest(store, clock, { observe }), scheduler);
  const missing = missingForMail(config);
  const unsent = { missingForMail: missing, unsentKinds: missing.length === 0 ? [] : config.ownerKinds };
  const notifications = notificationReport(store, unsent, clock);
  const reports = [fleetMetrics(store, clock), forecastMetrics(store, clock), notifications.metrics];
  let server: Awaited<ReturnType<typeof buildServer>> | undefined;
  let mqtt: Mqtt | undefined;
  let sweep: RepeatedTask | undefined;
  let composer: RepeatedTask | undefined;
  const management = new ManagementService(store, clock, managementSettings(config));
  const signIn = new SignInService({
    management,
    limits,
    observe,
    sendMail: async (id, mail) => notificationService?.sendMail(id, mail) ?? { status: null, error: "the service is starting" },
    recordSeen: (customerId) => lastSeen.record(customerId),
  });

  async function closeAll(): Promise<void> {
    // Beside the others, which take up to as long.
    const notificationsStopped = notificationService?.stop(STOP_MS - RECORD_MS, signIn.stop());
    await server?.close();
    await mqtt?.stop();
    await Promise.all([composer?.stop(), sweep?.stop(), forecasts?.stop(), lastSeen.stop(), notificationsStopped]);
    await store.close();
    metrics.close();
  }

  try {
    const { rateLimit, corsOrigins, trustProxy } = config;
    server = await buildServer({
      reads: store,
      services: {
        ingest: createHttpIngest(ingestFrom("http", ingest), clock),
        management,
        signIn,
        warnings: async () => [...(canWrite ? [] : [WRITES_UNAVAILABLE]), ...(await notifications.warnings())],
        wholeMap: cached(clock, () => fleetMapJson(store, UNRESTRICTED, management)),
      },
      metrics: { text: async () => metrics.text(await availableReports(reports)) },
      lastSeen,
      clock,
      observe,
      limits,
      scheduler,
      version: VERSION,
      rateLimit,
      corsOrigins,
      trustProxy,
      timeouts,
    });
    const descriptor = socketDescriptor === undefined ? {} : { fd: socketDescriptor };
    await server.listen({ port: config.port, host: await numericHost(config.host), ...descriptor });
    mqtt = await openMqtt({ config, reads: store, ingest, limits, observe, clock, worker });
    notificationService = startNotificationService({
      store,
      clock,
      observe,
      mail: config,
      webhookAllow: config.webhookAllow,
      version: VERSION,
      ...unsent,
      isReporting: worker === 1,
    });
    sweep = startSweep(store, storeSettings(config).alerts, observe, options.clock);
    forecasts = new ForecastJob({ store, clock, observe });
    composer = startComposer({ store, settings: { publicUrl: config.publicUrl }, clock, observe });
  } catch (error) {
    await closeAll();
    throw listenError(error, config);
  }

  const { server: httpServer } = server;
  const httpClients = promisify(httpServer.getConnections.bind(httpServer));
  const mqttClients = mqtt.clients;
  metrics.watchClients(async () => ({ http: await httpClients(), mqtt: mqttClients() }));
  const url = urlOf(httpServer.address() as AddressInfo);
  const milliseconds = Math.round(performance.now() - startedAt);
  observe({ kind: "listening", url, database: withoutPassword(config.databaseUrl), workers: 1, milliseconds });

  async function stop(): Promise<void> {
    await withConnectionsClosed(httpServer, closeAll);
    observe({ kind: "stopped" });
  }
  let stopping: Promise<void> | undefined;
  return {
    url,
    store,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Closes connections when they become idle, and all others after `STOP_MS`. */
async function withConnectionsClosed(server: Server, stop: () => Promise<void>): Promise<void> {
  const closeAll = setTimeout(() => server.closeAllConnections(), STOP_MS);
  // A connection with a request in progress becomes idle only after the stop has begun.
  const closeIdle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
  await stop().finally(() => {
    clearTimeout(closeAll);
    clearInterval(closeIdle);
  });
}

/** A report that fails is omitted; other metrics show why. */
async function availableReports(reports: readonly (() => Promise<MetricsReport>)[]): Promise<MetricsReport> {
  return (await Promise.all(reports.map((report) => report().catch(() => [])))).flat();
}

/** A database URL may carry a password before the host, or in a parameter. */
function withoutPassword(databaseUrl: string): string {
  return databaseUrl.replace(/\/\/[^/?#]*@/, "//").replace(/[?#].*$/, "");
}
