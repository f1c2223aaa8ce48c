// Connections for webhooks: made only to permitted addresses, and closed when a response is too long.

import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction, Socket } from "node:net";
import { buildConnector } from "undici";
import { mayConnectTo, type WebhookAllow } from "../domain/alerts/webhook-url.ts";
import { FairQueue } from "../domain/fair-queue.ts";

/** Limit for a whole response: headers, body and anything else. */
const MAX_RESPONSE_BYTES = 80 * 1024;

/** A connection that was blocked or closed by us. Its message is shown to the operator. */
export class WebhookConnectionError extends Error {}

export function webhookConnector(allow: WebhookAllow, resolve: Resolve, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({
    lookup: checkedLookup(allow, resolve),
    // Explicit, because an environment variable can turn verification off for the whole process.
    rejectUnauthorized: true,
    allowH2: false,
    timeout: timeoutMs,
  });
  return (options, callback) =>
    connect(options, (...result) => {
      if (result[0] === null) limitResponses(result[1]);
      callback(...result);
    });
}

/** Counts what is received after each request. The HTTP client counts headers and body, but not what may stand around them. */
function limitResponses(socket: Socket): void {
  let written = socket.bytesWritten;
  let before = socket.bytesRead;
  let read = before;
  socket.on("readable", () => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      before = read;
    }
    read = socket.bytesRead;
    if (read - before > MAX_RESPONSE_BYTES) socket.destroy(new WebhookConnectionError("the response is too long"));
  });
}

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** The system resolves eight at a time (`bin/tank-monitor.js`); the others are for the database, the mail server and the broker. */
const MAX_LOOKUPS = 6;

export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true });

/**
 * The connection is made to the very addresses that are checked here, so a name that changes its address between a check and the
 * connection gains nothing. Of several addresses, those that are not allowed are left out.
 */
function checkedLookup(allow: WebhookAllow, resolve: Resolve): LookupFunction {
  const lookups = new FairQueue(MAX_LOOKUPS);
  // A slow name must not be resolved by many connections at once.
  const pending = new Map<string, Promise<readonly LookupAddress[]>>();

  function resolveOnce(hostname: string): Promise<readonly LookupAddress[]> {
    const current = pending.get(hostname);
    if (current !== undefined) return current;
    const started = lookups.run(hostname, () => resolve(hostname)).finally(() => pending.delete(hostname));
    pending.set(hostname, started);
    return started;
  }

  return (hostname, { all }, callback) => {
    resolveOnce(hostname).then(
      (addresses) => {
        const permitted = addresses.filter(({ address }) => mayConnectTo(address, hostname, allow));
        const [first] = permitted;
        if (first === undefined) callback(addressNotAllowed(addresses), []);
        else if (all) callback(null, permitted);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}

function addressNotAllowed([first]: readonly LookupAddress[]): Error {
  return new WebhookConnectionError(
    first === undefined ? "the name has no address" : `the name resolves to ${first.address}, which is not allowed`,
  );
}
