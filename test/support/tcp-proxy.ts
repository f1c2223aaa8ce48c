// A TCP proxy whose target can change, as behind a virtual address, and whose connections can break or go silent.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Lifetime } from "./service.ts";

export type TcpProxy = {
  /** The target's URL with the proxy's port. */
  readonly url: string;
  /** For new connections; open ones stay. */
  readonly redirect: (url: string) => void;
  /** Closes all connections; true if there were any. */
  readonly disconnect: () => boolean;
  /** Closes all connections, once, when a client sends this text; it is not passed on. */
  readonly disconnectBefore: (text: string) => void;
  /** Passes nothing on any more, on old and new connections, not even their end: an unplugged cable. */
  readonly freeze: () => void;
  /** For new connections; frozen ones stay frozen. */
  readonly unfreeze: () => void;
};

export async function tcpProxy(life: Lifetime, url: string): Promise<TcpProxy> {
  let target = new URL(url);
  let isFrozen = false;
  let stopText: string | undefined;
  const open = new Set<Socket>();
  const frozen = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      if (isFrozen) frozen.add(from);
      from.on("data", (data) => {
        if (from === client && stopText !== undefined && data.includes(stopText)) disconnect();
        else if (!frozen.has(from)) to.write(data);
      });
      from.on("end", () => {
        if (!frozen.has(from)) to.end();
      });
      from.on("error", () => {});
      from.on("close", () => {
        open.delete(from);
        if (!frozen.delete(from)) to.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  function disconnect(): boolean {
    stopText = undefined;
    const hadConnections = [...open].some((socket) => !socket.destroyed);
    for (const socket of open) socket.destroy();
    return hadConnections;
  }
  life.after(() => {
    disconnect();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    redirect: (other) => (target = new URL(other)),
    disconnect,
    disconnectBefore(text) {
      stopText = text;
    },
    freeze() {
      isFrozen = true;
      for (const socket of open) frozen.add(socket);
    },
    unfreeze: () => (isFrozen = false),
  };
}
