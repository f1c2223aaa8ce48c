// The log: one JSON line per event on stderr. It only sees events, and masks the secrets of keys wherever they are.

import { pino } from "pino";
import { formatInstant } from "../domain/instant.ts";
import { maskSecrets } from "../domain/key.ts";
import type { LogEvent, Observe } from "../domain/log-events.ts";

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
  const write = (line: string): void => output.write(maskSecrets(line));
  const logger = pino({ level, base, timestamp: () => `,"time":"${formatInstant(Date.now())}"` }, { write });
  const limiter = new LineLimiter();
  const outages = new OutageLog(logEvent);

  function logEvent(event: OtherEvent): void {
    const [usual, message] = MESSAGES[event.kind];
    const level = event.kind === "worker_exited" && event.isClean ? "info" : usual;
    if (!logger.isLevelEnabled(level)) return;
    const suppressed = LIMITED.has(event.kind) ? limiter.admit(event.kind, performance.now()) : 0;
    if (suppressed === undefined) return;
    const fields = fieldsOf(event);
    const text = message.replace(/\{(\w+)\}/g, (_, name: string) => String(fields[name]));
    logger[level]({ ...fields, ...(suppressed > 0 && { suppressed }) }, text);
  }

  return {
    observe(event) {
      if (event.kind !== "request_completed") outages.log(event);
      else if (logger.isLevelEnabled(requestLevel(event))) output.write(requestLine(event, workerField));
    },
    writeLines: output.write,
    close() {
      outages.close();
      return output.close();
    },
  };
}

type RequestCompleted = LogEvent & { kind: "request_completed" };
type OtherEvent = Exclude<LogEvent, RequestCompleted>;
type EventLevel = "trace" | "info" | "warn" | "error";

const requestLevel = ({ status }: RequestCompleted): EventLevel => (status >= 500 ? "error" : "info");

/**
 * Formatted by hand as pino would: there is one per request, and pino takes twice as long. Secrets are masked in what clients choose;
 * a search of the whole line would take longer.
 */
function requestLine(event: RequestCompleted, workerField: string): string {
  const { requestId, method, path, route, status, code, keyId, address, milliseconds } = event;
  const start = `{"level":${pino.levels.values[requestLevel(event)]},"time":"${formatInstant(Date.now())}",${workerField}"event":"request"`;
  const request = `"requestId":"${maskSecrets(requestId)}","method":"${method}","path":${JSON.stringify(maskSecrets(path))},"route":${JSON.stringify(route)}`;
  const response = `"status":${status},"code":${JSON.stringify(code)},"keyId":${JSON.stringify(keyId)}`;
  return `${start},${request},${response},"address":${JSON.stringify(maskSecrets(address))},"milliseconds":${Math.round(milliseconds * 1000) / 1000}}\n`;
}

/** `err` is the field that pino formats with a stack. */
function fieldsOf(event: OtherEvent): Record<string, unknown> {
  const { kind, ...fields } = event;
  if (!("error" in fields)) return { event: kind, ...fields };
  const { error, ...others } = fields;
  return { event: kind, ...others, err: error };
}

/** `{name}` stands for a field of the event. */
const MESSAGES: Readonly<Record<OtherEvent["kind"], readonly [level: EventLevel, message: string]>> = {
  request_failed: ["error", "a request failed with an internal error"],
  connection_rejected: ["info", "a connection did not send a valid HTTP request"],
  connection_dropped: ["info", "a connection was dropped"],
  query_completed: ["trace", "a store query completed"],
  write_completed: ["trace", "a store write completed"],
  readings_ingested: ["trace", "readings were ingested"],
  composing_failed: ["error", "notifications for a recipient could not be composed; retrying in ten minutes"],
  notifications_created: ["trace", "notifications were created"],
  notification_delivered: ["trace", "a notification was delivered"],
  notification_failed: ["warn", "a notification could not be delivered ({outcome})"],
  notifications_ended: ["warn", "{count} notifications were not sent ({outcome})"],
  channel_disabled: ["error", "channel {channelId} was disabled: {reason}"],
  mail_not_configured: ["error", "mail cannot be sent: set {missing}"],
  notifications_delayed: ["error", "notifications are delayed: {pending} are pending, the oldest for {oldestSeconds} seconds"],
  notifications_caught_up: ["info", "notifications are no longer delayed"],
  sending_failed: [
    "error",
    "notifications could not be sent, or the results not recorded: damaged data or an internal error; retrying",
  ],
  no_users: [
    "info",
    "nobody can sign in yet; create the first user: npx tank-monitor user create --email ADDRESS --name NAME --role admin",
  ],
  sign_in_mail_failed: ["warn", "mail with a sign-in link could not be sent ({outcome})"],
  sign_in_failed: ["error", "a request to sign in failed with an internal error"],
  listening: ["info", "listening on {url}"],
  worker_started: ["info", "worker {worker} is ready"],
  worker_exited: ["error", "worker {worker} exited: {reason}"],
  database_locked: ["warn", "waiting for another process that creates or restores the database"],
  store_unavailable: ["error", "the database is unavailable; requests get 503 until it recovers"],
  store_recovered: ["info", "the database is available again"],
  writes_unavailable: ["error", "the database cannot be written; reads continue"],
  writes_recovered: ["info", "the database can be written again"],
  data_damaged: [
    "error",
    'stored data is damaged ({object}): {reason}; "npx tank-monitor check" says whether it can be repaired',
  ],
  replica_unavailable: ["warn", "replica {replica} is not used: {reason}; its queries go to the primary"],
  replica_available: ["info", "replica {replica} is used"],
  replica_damaged: [
    "error",
    "data is damaged on replica {replica}: {reason}; it is read from the primary; create the replica again",
  ],
  last_seen_delayed: ["warn", "last_seen_at could not be written; retrying"],
  forecast_job_failed: ["error", "forecasts and the fleet order could not be updated; retrying"],
  forecast_failed: ["error", "the forecast of tank {tankId} could not be computed or stored"],
  sweep_failed: ["error", "alerts of tanks that are silent or no longer paused could not be evaluated; retrying"],
  readings_rejected: ["warn", "readings were rejected"],
  mqtt_client_rejected: ["warn", "an MQTT client failed to authenticate"],
  mqtt_client_dropped: ["info", "an MQTT client was disconnected"],
  mqtt_failed: ["error", "the MQTT endpoint had an internal error; a message that it concerns was perhaps not acknowledged"],
  mqtt_listening: ["info", "listening for MQTT clients on {url}"],
  broker_connected: ["info", "connected to the MQTT broker at {broker}"],
  broker_disconnected: ["error", "disconnected from the MQTT broker at {broker}; retrying"],
  stopping: ["info", "{signal}: completing requests in progress"],
  stopped: ["info", "stopped"],
};

/** Events that may repeat very often; their log lines are rate-limited. */
const LIMITED: ReadonlySet<LogEvent["kind"]> = new Set([
  "request_failed",
  "forecast_job_failed",
  "sweep_failed",
  "data_damaged",
  "replica_damaged",
  "connection_dropped",
  "readings_rejected",
  "notification_failed",
  "notifications_ended",
  "sending_failed",
  "mqtt_client_rejected",
  "mqtt_client_dropped",
  "mqtt_failed",
  "composing_failed",
  "forecast_failed",
  "sign_in_mail_failed",
  "sign_in_failed",
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

const OUTAGE = /^(store|writes)_(unavailable|recovered)$/;
const RECOVERED_MS = 10_000;

/**
 * An outage is logged when it begins, and its end when it has lasted: on a full disk small writes still succeed, and the two would
 * alternate. Other events pass.
 */
export class OutageLog {
  readonly #log: (event: OtherEvent) => void;
  /** The ends of the outages that were logged, where they seem to be over. */
  readonly #ends = new Map<string, { readonly timer: NodeJS.Timeout; readonly log: () => void } | undefined>();

  constructor(log: (event: OtherEvent) => void) {
    this.#log = log;
  }

  log(event: OtherEvent): void {
    const [, name, state] = OUTAGE.exec(event.kind) ?? [];
    if (name === undefined) {
      this.#log(event);
      return;
    }
    const isKnown = this.#ends.has(name);
    clearTimeout(this.#ends.get(name)?.timer);
    this.#ends.set(name, undefined);
    if (state === "unavailable") {
      if (!isKnown) this.#log(event);
      return;
    }
    const log = (): void => {
      this.#ends.delete(name);
      this.#log(event);
    };
    this.#ends.set(name, { timer: setTimeout(log, RECOVERED_MS).unref(), log });
  }

  close(): void {
    for (const end of [...this.#ends.values()]) {
      clearTimeout(end?.timer);
      end?.log();
    }
  }
}

// Where the lines go: a file descriptor, written in the background by sonic-boom, which comes with pino. Lines must never
// block the service: those that exceed the buffer are dropped and counted, and the count is logged once writing works again.

const STDERR = 2;
const BUFFER_BYTES = 4_194_304;
/** Lines are collected this long, or up to this many characters: a write costs more than many lines. */
const COLLECT_MS = 20;
const COLLECT_CHARACTERS = 65_536;
const CLOSE_MS = 2000;

type LogOutput = {
  readonly write: (lines: string) => void;
  readonly close: () => Promise<void>;
};

export function openLogOutput(descriptor = STDERR): LogOutput {
  let dropped = 0;
  let isFailing = false;
  let retryUntil = Number.POSITIVE_INFINITY;
  // sonic-boom's flush does nothing while its minimum is 0.
  const stream = pino.destination({
    dest: descriptor,
    sync: false,
    minLength: 1,
    maxLength: BUFFER_BYTES,
    retryEAGAIN: () => performance.now() < retryUntil,
  });
  stream.on("drop", (lines) => {
    dropped += lines.split("\n").length - 1;
    // After an error nothing is written until the next write, and a full buffer accepts none.
    stream.flush();
  });
  stream.on("write", () => {
    isFailing = false;
  });
  stream.on("drain", () => {
    if (dropped === 0) return;
    const line = `{"level":40,"event":"log_lines_dropped","lines":${dropped},"msg":"log lines could not be written"}\n`;
    dropped = 0;
    stream.write(line);
  });
  // What could not be written stays in the buffer.
  stream.on("error", () => {
    isFailing = true;
  });
  // pino flushes at exit, which would retry for ever on an output that fails.
  process.prependOnceListener("exit", () => {
    if (isFailing) stream.destroy();
    else writeQueued();
  });
  let queued = "";
  function writeQueued(): void {
    const lines = queued;
    queued = "";
    if (lines !== "") stream.write(lines);
  }
  let closing: Promise<void> | undefined;
  async function flushAndDestroy(): Promise<void> {
    writeQueued();
    retryUntil = performance.now() + CLOSE_MS;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      stream.flush(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    stream.destroy();
  }
  return {
    write(lines) {
      if (closing !== undefined) return;
      if (queued === "") setTimeout(writeQueued, COLLECT_MS).unref();
      queued += lines;
      if (queued.length >= COLLECT_CHARACTERS) writeQueued();
    },
    close() {
      closing ??= flushAndDestroy();
      return closing;
    },
  };
}
