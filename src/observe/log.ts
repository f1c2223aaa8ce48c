// The log: one JSON line per event on stderr. It only sees events, hence no secrets.

import { pino } from "pino";
import type { Event, Observe } from "../domain/events.ts";
import { formatInstant } from "../domain/instant.ts";
import { openLogOutput } from "./log-output.ts";

export type Log = {
  readonly observe: Observe;
  /** Whole lines that another process has formatted. */
  readonly writeLines: (lines: string) => void;
  /** Writes what is pending, as far as possible. Later events are ignored. */
  readonly close: () => Promise<void>;
};

/** With several workers, each puts its number into its lines. */
export function openLog(level: string, worker?: number): Log {
  const output = openLogOutput();
  const base = worker === undefined ? null : { worker };
  const workerField = worker === undefined ? "" : `"worker":${worker},`;
  const logger = pino({ level, base, timestamp: () => `,"time":"${formatInstant(Date.now())}"` }, output);
  const limiter = new LineLimiter();
  return {
    observe(event) {
      if (event.kind === "request_completed") {
        if (logger.isLevelEnabled(requestLevel(event))) output.write(requestLine(event, workerField));
        return;
      }
      const [level, message] = describe(event);
      if (!logger.isLevelEnabled(level)) return;
      const suppressed = LIMITED.has(event.kind) ? limiter.admit(event.kind, performance.now()) : 0;
      if (suppressed === undefined) return;
      logger[level]({ ...fieldsOf(event), ...(suppressed > 0 && { suppressed }) }, message);
    },
    writeLines: output.write,
    close: output.close,
  };
}

type RequestCompleted = Event & { kind: "request_completed" };
type OtherEvent = Exclude<Event, RequestCompleted>;
type Level = "trace" | "info" | "warn" | "error";

const requestLevel = ({ status }: RequestCompleted): Level => (status >= 500 ? "error" : "info");

/** Formatted by hand as pino would: there is one per request, and pino takes twice as long. */
function requestLine(event: RequestCompleted, workerField: string): string {
  const { requestId, method, path, route, status, code, keyId, address, milliseconds } = event;
  const start = `{"level":${pino.levels.values[requestLevel(event)]},"time":"${formatInstant(Date.now())}",${workerField}"event":"request"`;
  const request = `"requestId":"${requestId}","method":"${method}","path":${JSON.stringify(path)},"route":${JSON.stringify(route)}`;
  const response = `"status":${status},"code":${JSON.stringify(code)},"keyId":${JSON.stringify(keyId)}`;
  return `${start},${request},${response},"address":${JSON.stringify(address)},"milliseconds":${Math.round(milliseconds * 1000) / 1000}}\n`;
}

/** `err` is the field that pino formats with a stack. */
function fieldsOf(event: OtherEvent): Record<string, unknown> {
  const { kind, ...fields } = event;
  if (!("error" in fields)) return { event: kind, ...fields };
  const { error, ...others } = fields;
  return { event: kind, ...others, err: error };
}

function describe(event: OtherEvent): readonly [level: Level, message: string] {
  switch (event.kind) {
    case "request_failed":
      return ["error", "a request failed with an internal error"];
    case "connection_rejected":
      return ["info", "a connection did not send a valid HTTP request"];
    case "query_completed":
      return ["trace", "a store query completed"];
    case "listening":
      return ["info", `listening on ${event.url}`];
    case "worker_started":
      return ["info", `worker ${event.worker} is ready`];
    case "worker_exited": {
      const restart = event.restartInMs === null ? "" : `; restarting it in ${event.restartInMs} ms`;
      return [event.isClean ? "info" : "error", `worker ${event.worker} exited: ${event.reason}${restart}`];
    }
    case "store_unavailable":
      return ["error", "the database is unavailable; requests get 503 until it recovers"];
    case "store_recovered":
      return ["info", "the database is available again"];
    case "writes_unavailable":
      return ["error", "the database cannot be written; reads continue"];
    case "writes_recovered":
      return ["info", "the database can be written again"];
    case "replica_unavailable":
      return ["warn", "a replica is not used; its queries go to the primary"];
    case "replica_recovered":
      return ["info", "a replica is used"];
    case "last_seen_delayed":
      return ["warn", "last_seen_at could not be written; retrying"];
    case "readings_rejected":
      return ["warn", "readings were rejected"];
    case "mqtt_client_rejected":
      return ["warn", "an MQTT client could not log in"];
    case "mqtt_client_dropped":
      return ["info", "an MQTT client was disconnected"];
    case "mqtt_failed":
      return ["error", "an MQTT message failed with an internal error; it was not acknowledged"];
    case "mqtt_listening":
      return ["info", `listening for MQTT clients on ${event.url}`];
    case "broker_connected":
      return ["info", `connected to the MQTT broker at ${event.broker}`];
    case "broker_disconnected":
      return ["error", `disconnected from the MQTT broker at ${event.broker}; retrying`];
    case "stopping":
      return ["info", `${event.signal}: completing requests in progress`];
    case "stopped":
      return ["info", "stopped"];
  }
}

/** Events that clients can cause as often as they like. */
const LIMITED: ReadonlySet<Event["kind"]> = new Set([
  "readings_rejected",
  "mqtt_client_rejected",
  "mqtt_client_dropped",
  "mqtt_failed",
]);
const LINES_PER_WINDOW = 10;
const WINDOW_MS = 10_000;

type LineWindow = { since: number; lines: number; suppressed: number };

/** A limit on the lines of each event, with a count of the suppressed ones. */
export class LineLimiter {
  readonly #windows = new Map<string, LineWindow>();

  /** The number of lines suppressed since the last admitted one; undefined where this one is suppressed too. */
  admit(name: string, now: number): number | undefined {
    const window = this.#windows.get(name) ?? { since: now, lines: 0, suppressed: 0 };
    this.#windows.set(name, window);
    if (now - window.since >= WINDOW_MS) {
      window.since = now;
      window.lines = 0;
    }
    if (window.lines >= LINES_PER_WINDOW) {
      window.suppressed++;
      return undefined;
    }
    window.lines++;
    const { suppressed } = window;
    window.suppressed = 0;
    return suppressed;
  }
}
