// The log: one structured line for each event worth reading, on stderr. It sees events, hence no secrets.

import { destination, type Logger, pino } from "pino";
import type { Event, Observe } from "../domain/events.ts";
import { formatInstant } from "../domain/instant.ts";

export type Log = { readonly observe: Observe; readonly flush: () => void };

/** Lines are handed to the system in the background and gathered while a write is under way. */
export function openLog(level: string): Log {
  const stream = destination({ fd: 2, sync: false });
  const logger = pino({ level, base: null, timestamp: () => `,"time":"${formatInstant(Date.now())}"` }, stream);
  return {
    observe: (event) => write(logger, event),
    flush() {
      try {
        stream.flushSync();
      } catch {
        // Not opened yet, or gone: there is nobody left to tell.
      }
    },
  };
}

function write(logger: Logger, event: Event): void {
  switch (event.kind) {
    case "request_answered": {
      const { kind: _, ...line } = event;
      const level = event.status >= 500 ? "error" : "info";
      logger[level]({ event: "request", ...line, milliseconds: Math.round(event.milliseconds * 1000) / 1000 });
      return;
    }
    case "request_failed":
      logger.error({ event: event.kind, requestId: event.requestId, err: event.error }, "a request failed by our fault");
      return;
    case "connection_refused":
      logger.info({ event: event.kind, code: event.code, status: event.status }, "a connection sent no readable request");
      return;
    case "question_answered":
      logger.trace({ event: event.kind, question: event.question, milliseconds: event.milliseconds, ok: event.ok });
      return;
    case "listening":
      logger.info(
        { event: event.kind, url: event.url, database: event.database, milliseconds: Math.round(event.milliseconds) },
        `listening on ${event.url}`,
      );
      return;
    case "store_lost":
      logger.error({ event: event.kind, reason: event.reason }, "the database is away; answering 503 until it is back");
      return;
    case "store_back":
      logger.info({ event: event.kind }, "the database is back");
      return;
    case "last_seen_delayed":
      logger.warn({ event: event.kind, err: event.error }, "last_seen_at could not be written; trying again");
      return;
    case "stopping":
      logger.info({ event: event.kind, signal: event.signal }, `${event.signal}: finishing what runs`);
      return;
    case "stopped":
      logger.info({ event: event.kind }, "stopped");
      return;
  }
}
