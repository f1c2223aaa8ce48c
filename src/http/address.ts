// The address that is listened on: found by its name, told as a URL, and what to say where it cannot be had.

import { lookup } from "node:dns/promises";
import type { AddressInfo } from "node:net";
import { UserError } from "../domain/errors.ts";

/** As it was asked for. */
export type Wanted = {
  readonly host: string;
  readonly port: number;
  /** How another port is chosen. */
  readonly setting?: string;
};

/** One address, hence one server: Fastify opens a second one for "localhost", which a stop would not wait for. */
export async function numericHost(host: string): Promise<string> {
  return (await lookup(host)).address;
}

export function listenComplaint(error: unknown, { host, port, setting = "--port or PORT" }: Wanted): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EADDRINUSE")
    return new UserError(`port ${port} on ${host} is in use. Stop what uses it, or choose another with ${setting}.`);
  if (code === "EACCES")
    return new UserError(`port ${port} may not be opened by this user. Choose one above 1023 with ${setting}.`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new UserError(`${host} is not an address of this machine. Check --host or HOST.`);
  if (error instanceof Error && "syscall" in error)
    return new UserError(`${host}, port ${port}, cannot be listened on: ${error.message}`);
  return error;
}

export function urlOf({ address, family, port }: AddressInfo): string {
  const everywhere = address === "0.0.0.0" || address === "::";
  const host = everywhere ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
