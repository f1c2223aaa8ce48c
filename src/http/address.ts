// The address to listen on: its lookup, its URL, and errors in plain words.

import { lookup } from "node:dns/promises";
import { type AddressInfo, BoundSocket } from "node:net";
import { UserError } from "../domain/errors.ts";

type ListenAddress = {
  readonly host: string;
  readonly port: number;
  /** How to choose another port, for error messages. */
  readonly setting?: string;
};

/** One address, and so one server: for "localhost" Fastify opens a second one that `close` does not wait for. */
export async function numericHost(host: string): Promise<string> {
  return (await lookup(host)).address;
}

export async function bindSocket(address: ListenAddress): Promise<BoundSocket> {
  try {
    return new BoundSocket({ host: await numericHost(address.host), port: address.port });
  } catch (error) {
    throw listenError(error, address);
  }
}

export function listenError(error: unknown, { host, port, setting = "--port or PORT" }: ListenAddress): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EADDRINUSE")
    return new UserError(`port ${port} on ${host} is in use. Stop the program that uses it, or choose another with ${setting}.`);
  if (code === "EACCES")
    return new UserError(`port ${port} cannot be opened by this user. Choose one above 1023 with ${setting}.`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new UserError(`${host} is not an address of this machine. Check --host or HOST.`);
  if (error instanceof Error && "syscall" in error)
    return new UserError(`cannot listen on ${host}, port ${port}: ${error.message}`);
  return error;
}

export function urlOf({ address, family, port }: AddressInfo): string {
  const isWildcard = address === "0.0.0.0" || address === "::";
  const host = isWildcard ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
