// An address that leads to one server now and to another later, as a virtual address or a load balancer does.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Lifetime } from "../service.ts";

export type Detour = {
  /** The server's own URL, by this way. */
  readonly url: string;
  /** New connections go there; old ones stay where they are. */
  readonly lead: (url: string) => void;
  /** Every connection is gone. Says whether there was one. */
  readonly cut: () => boolean;
  /** Every connection is gone as soon as one of them has this to say to the server, who does not hear it. */
  readonly cutBefore: (words: string) => void;
  /** Nothing goes through any more, and nobody is told: the cable is out. New connections are taken, and are as silent. */
  readonly silence: () => void;
  /** New connections are served; those that went silent stay so. */
  readonly speak: () => void;
};

export async function detourTo(life: Lifetime, url: string): Promise<Detour> {
  let target = new URL(url);
  let isSilent = false;
  let unheard: string | undefined;
  const open = new Set<Socket>();
  const mute = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      if (isSilent) mute.add(from);
      from.on("data", (data) => {
        if (from === near && unheard !== undefined && data.includes(unheard)) cut();
        else if (!mute.has(from)) to.write(data);
      });
      from.on("error", () => {});
      from.on("close", () => {
        open.delete(from);
        if (!mute.delete(from)) to.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  function cut(): boolean {
    unheard = undefined;
    const isUsed = [...open].some((socket) => !socket.destroyed);
    for (const socket of open) socket.destroy();
    return isUsed;
  }
  life.after(() => {
    cut();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    lead: (other) => (target = new URL(other)),
    cut,
    cutBefore(words) {
      unheard = words;
    },
    silence() {
      isSilent = true;
      for (const socket of open) mute.add(socket);
    },
    speak: () => (isSilent = false),
  };
}
