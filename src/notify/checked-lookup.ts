// Name resolution for webhooks. The connection is made to the very addresses that are checked here, so a name that changes its
// address between a check and the connection gains nothing.

import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { mayConnectTo, type WebhookAllow } from "../domain/alerts/webhook-url.ts";

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true });

/** The message is part of what the operator sees. */
export class RefusedAddress extends Error {}

/** For `net.connect`. Of a name with several addresses, those that are not allowed are left out. */
export function checkedLookup(allow: WebhookAllow, resolve: Resolve): LookupFunction {
  // The system resolves few names at a time. A slow one must not be resolved by many connections at once.
  const pending = new Map<string, Promise<readonly LookupAddress[]>>();

  function resolveOnce(hostname: string): Promise<readonly LookupAddress[]> {
    const current = pending.get(hostname);
    if (current !== undefined) return current;
    const started = resolve(hostname).finally(() => pending.delete(hostname));
    pending.set(hostname, started);
    return started;
  }

  return (hostname, { all }, callback) => {
    resolveOnce(hostname).then(
      (addresses) => {
        const permitted = addresses.filter(({ address }) => mayConnectTo(address, hostname, allow));
        const [first] = permitted;
        if (first === undefined) callback(refusal(addresses), []);
        else if (all) callback(null, permitted);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}

function refusal([first]: readonly LookupAddress[]): Error {
  return new RefusedAddress(
    first === undefined ? "the name has no address" : `the name resolves to ${first.address}, which is not allowed`,
  );
}
