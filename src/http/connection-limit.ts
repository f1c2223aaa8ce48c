// How many connections one client address may have, for the HTTP server and the embedded MQTT endpoint.

import { isIP, type Socket } from "node:net";
import { isInRanges } from "../domain/addresses.ts";

/** Which proxies to believe about the client's address: none, this number of them, or those at these addresses. */
export type TrustProxy = false | number | readonly string[];

const MAX_PER_ADDRESS = 1000;

/** Counts the connections of one server by client address. */
export class ConnectionLimit {
  readonly #isExempt: (address: string) => boolean;
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(isExempt: (address: string) => boolean, max = MAX_PER_ADDRESS) {
    this.#isExempt = isExempt;
    this.#max = max;
  }

  /** Counts the connection until it closes. False where its address has too many already: close it. */
  admit(socket: Socket): boolean {
    const address = socket.remoteAddress;
    // Without an address it is closed already.
    if (address === undefined || this.#isExempt(address)) return true;
    const network = networkOf(address);
    const count = this.#counts.get(network) ?? 0;
    if (count >= this.#max) return false;
    this.#counts.set(network, count + 1);
    socket.once("close", () => this.#release(network));
    return true;
  }

  #release(network: string): void {
    const count = (this.#counts.get(network) ?? 0) - 1;
    if (count > 0) this.#counts.set(network, count);
    else this.#counts.delete(network);
  }
}

const MAPPED_IPV4 = "::ffff:";

const WITH_PORT = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/;

/** An address as some proxies forward it: with a port, IPv6 in brackets. Undefined where the text is none. */
function plainAddress(text: string): string | undefined {
  if (isIP(text) !== 0) return text;
  const [, bracketed, other] = WITH_PORT.exec(text) ?? [];
  const address = bracketed ?? other ?? "";
  return isIP(address) === 0 ? undefined : address;
}

type ForwardedRequest = { readonly ip: string; readonly socket: Pick<Socket, "remoteAddress"> };

/** The address of a client. Where a proxy forwards something else, that of the proxy. */
export const clientAddress = ({ ip, socket }: ForwardedRequest): string => plainAddress(ip) ?? socket.remoteAddress ?? "";

/** What one client can send from: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  const version = isIP(address);
  if (version !== 6) return version === 4 ? address : "";
  if (address.startsWith(MAPPED_IPV4) && address.includes(".")) return address.slice(MAPPED_IPV4.length);
  const [start = "", end] = address.split("::");
  const groups = start.split(":");
  const last = end?.split(":") ?? [];
  const zeros = new Array<string>(Math.max(0, 8 - groups.length - last.length)).fill("0");
  return [...groups, ...zeros, ...last].slice(0, 4).join(":");
}

/** Loopback and proxies, which carry the connections of many clients. With a number of hops, every connection is a proxy's. */
export function isProxyAddress(trustProxy: TrustProxy): (address: string) => boolean {
  if (typeof trustProxy === "number" && trustProxy > 0) return () => true;
  return isWithin(["loopback", ...(typeof trustProxy === "object" ? trustProxy : [])]);
}

/** More than any chain of proxies has: clients choose how many addresses X-Forwarded-For has. */
const MAX_HOPS = 50;

/** Whether to believe the proxy at an address, that many hops away, about the address before it. */
export function trustedProxies(trustProxy: TrustProxy): false | ((address: string, hop: number) => boolean) {
  if (trustProxy === false) return false;
  if (typeof trustProxy === "number") return (_address, hop) => hop < trustProxy;
  const isTrusted = isWithin(trustProxy);
  return (address, hop) => hop < MAX_HOPS && isTrusted(address);
}

function isWithin(ranges: readonly string[]): (address: string) => boolean {
  const isInside = isInRanges(ranges);
  return (address) => isInside(plainAddress(address) ?? "");
}
