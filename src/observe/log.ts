// The log: one structured line for each event worth reading, on stderr. It sees events, hence no secrets.

import { type Logger, pino } from "pino";
import type { Event, Observe } from "../domain/events.ts";
import { formatInstant } from "../domain/instant.ts";
import { LogLines } from "./lines.ts";
import { Seldom } from "./seldom.ts";

export type Log = {
  readonly observe: Observe;
  /** Lines that another process has made. */
  readonly pass: (lines: string) => void;
  readonly flush: () => void;
};

const MIGRATING_EVERY_MS = 5000;
/** Whoever sends can make these happen as often as they like. */
const AT_WILL: ReadonlySet<Event["kind"]> = new Set([
  "readings_rejected",
  "mqtt_client_rejected",
  "mqtt_client_dropped",
  "mqtt_failed",
]);

/** One of several workers puts its number into its lines. */
export function openLog(level: string, worker?: number): Log {
  const lines = new LogLines();
  const base = worker === undefined ? null : { worker };
  const mark = worker === undefined ? "" : `"worker":${worker},`;
  const logger = pino({ level, base, timestamp: () => `,"time":"${formatInstant(Date.now())}"` }, lines);
  let migratingSaidAt = Number.NEGATIVE_INFINITY;
  const seldom = new Seldom();
  return {
    observe(event) {
      if (event.kind === "migrating") {
        const now = performance.now();
        if (now - migratingSaidAt < MIGRATING_EVERY_MS && event.done < event.total) return;
        migratingSaidAt = now;
      }
      if (event.kind === "request_completed") {
        if (logger.isLevelEnabled(levelOf(event))) lines.write(requestLine(event, mark));
        return;
      }
      const suppressed = AT_WILL.has(event.kind) ? seldom.pass(event.kind, performance.now()) : 0;
      if (suppressed !== undefined) write(suppressed === 0 ? logger : logger.child({ suppressed }), event);
    },
    pass: (made) => lines.write(made),
    flush: () => lines.flush(),
  };
}

type RequestAnswered = Extract<Event, { kind: "request_completed" }>;

const levelOf = ({ status }: RequestAnswered): "info" | "error" => (status >= 500 ? "error" : "info");

/** By hand, in pino's form: there is one for every request, and pino takes twice as long for it. */
function requestLine(event: RequestAnswered, mark: string): string {
  const { requestId, method, path, route, status, code, keyId, address, milliseconds } = event;
  const head = `{"level":${pino.levels.values[levelOf(event)]},"time":"${formatInstant(Date.now())}",${mark}"event":"request"`;
  const asked = `"requestId":"${requestId}","method":"${method}","path":${JSON.stringify(path)},"route":${JSON.stringify(route)}`;
  const told = `"status":${status},"code":${JSON.stringify(code)},"keyId":${JSON.stringify(keyId)}`;
  return `${head},${asked},${told},"address":${JSON.stringify(address)},"milliseconds":${Math.round(milliseconds * 1000) / 1000}}\n`;
}

function write(logger: Logger, event: Exclude<Event, RequestAnswered>): void {
  switch (event.kind) {
    case "request_failed":
      logger.error({ event: event.kind, requestId: event.requestId, err: event.error }, "a request failed by our fault");
      return;
    case "connection_rejected":
      logger.info({ event: event.kind, code: event.code, status: event.status }, "a connection sent no readable request");
      return;
    case "query_completed":
      logger.trace({ event: event.kind, query: event.query, milliseconds: event.milliseconds, ok: event.ok });
      return;
    case "listening": {
      const { kind, url, database, workers, milliseconds } = event;
      logger.info({ event: kind, url, database, workers, milliseconds: Math.round(milliseconds) }, `listening on ${url}`);
      return;
    }
    case "migrating":
      logger.info(
        { event: event.kind, done: event.done, total: event.total },
        `migrating the database: ${event.done} of ${event.total} readings`,
      );
      return;
    case "worker_started": {
      const { kind, worker, pid, milliseconds } = event;
      logger.info({ event: kind, worker, pid, milliseconds: Math.round(milliseconds) }, `worker ${worker} answers`);
      return;
    }
    case "worker_exited": {
      const { kind, worker, pid, reason, isClean, restartInMs } = event;
      const next = restartInMs === null ? "" : `; restarting it in ${restartInMs} ms`;
      logger[isClean ? "info" : "error"](
        { event: kind, worker, pid, reason, restartInMs },
        `worker ${worker} exited: ${reason}${next}`,
      );
      return;
    }
    case "store_unavailable":
      logger.error({ event: event.kind, reason: event.reason }, "the database is away; answering 503 until it is back");
      return;
    case "writes_unavailable":
      logger.error({ event: event.kind, reason: event.reason }, "the database cannot be written; reading goes on");
      return;
    case "writes_recovered":
      logger.info({ event: event.kind }, "the database can be written again");
      return;
    case "store_recovered":
      logger.info({ event: event.kind }, "the database is back");
      return;
    case "replica_unavailable":
      logger.warn({ event: event.kind, replica: event.replica, reason: event.reason }, "a replica is not asked; the primary is");
      return;
    case "replica_recovered":
      logger.info({ event: event.kind, replica: event.replica }, "a replica is asked");
      return;
    case "last_seen_delayed":
      logger.warn({ event: event.kind, err: event.error }, "last_seen_at could not be written; trying again");
      return;
    case "readings_rejected": {
      const { kind, endpoint, keyId, topic, device, count, reason } = event;
      logger.warn({ event: kind, endpoint, keyId, topic, device, count, reason }, "readings were refused");
      return;
    }
    case "mqtt_client_rejected":
      logger.warn({ event: event.kind, code: event.code, address: event.address }, "an MQTT client could not log in");
      return;
    case "mqtt_client_dropped":
      logger.info({ event: event.kind, reason: event.reason, address: event.address }, "an MQTT client was cut off");
      return;
    case "mqtt_failed":
      logger.error({ event: event.kind, err: event.error }, "a message failed by our fault; it was not acknowledged");
      return;
    case "mqtt_listening":
      logger.info({ event: event.kind, url: event.url }, `MQTT clients are served on ${event.url}`);
      return;
    case "broker_connected": {
      const { kind, broker, notGranted } = event;
      logger.info({ event: kind, broker, notGranted }, `readings are taken from the MQTT broker at ${broker}`);
      return;
    }
    case "broker_disconnected":
      logger.error(
        { event: event.kind, broker: event.broker, reason: event.reason },
        `the MQTT broker at ${event.broker} is away; trying again`,
      );
      return;
    case "stopping":
      logger.info({ event: event.kind, signal: event.signal }, `${event.signal}: finishing what runs`);
      return;
    case "stopped":
      logger.info({ event: event.kind }, "stopped");
      return;
  }
}
