// hold-connections.ts URL MQTT_URL KEY…: holds connections that do nothing, or next to nothing. One that the service closes is
// opened again at once.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { constants, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { generate } from "mqtt-packet";
import { serveRuns } from "../measure/bench-program.ts";

/** `idle`: after one request, or logged in. `slow`: a byte of a request, or of a login, per second. `silent`: not a byte. */
export type Holding = {
  readonly protocol: "http" | "mqtt";
  readonly state: "idle" | "slow" | "silent";
  readonly connections: number;
  readonly seconds: number;
};
export type HoldResult = { readonly reopened: number };

/** A closed connection blocks its port for a minute, so there are several addresses to connect from. */
const ADDRESSES = 20;
const OPENED_AT_A_TIME = 100;
const TICKS_PER_SECOND = 1000;
const SLOW_REQUEST = Buffer.from(`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ${"x".repeat(1000)}`);
const REQUEST = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

const [url = "", mqttUrl = "", ...keys] = process.argv.slice(2);
let opened = 0;

async function open({ protocol, state }: Holding): Promise<Socket> {
  const { hostname, port } = new URL(protocol === "http" ? url : mqttUrl);
  const localAddress = `127.0.0.${2 + (opened++ % ADDRESSES)}`;
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  await once(socket, "connect");
  socket.on("error", () => {});
  if (state === "idle") {
    socket.write(protocol === "http" ? REQUEST : login());
    await once(socket, "data");
  }
  return socket.resume();
}

function login(): Buffer {
  const who = { clientId: "", username: "bench", password: Buffer.from(keys[opened % keys.length] ?? "") };
  return generate({ cmd: "connect", protocolId: "MQTT", protocolVersion: 4, clean: true, keepalive: 0, ...who });
}

// Those who hold connections open have processors of their own; on this machine the service comes first.
setPriority(constants.priority.PRIORITY_LOW);

serveRuns<Holding, HoldResult>(async (holding) => {
  const { connections, seconds, state, protocol } = holding;
  const slow = protocol === "http" ? SLOW_REQUEST : login();
  const sockets: (Socket | undefined)[] = new Array<undefined>(connections).fill(undefined);
  let isHolding = true;
  let reopened = 0;
  async function hold(place: number): Promise<void> {
    const socket = await open(holding);
    sockets[place] = socket;
    socket.on("close", () => {
      if (!isHolding) return;
      reopened++;
      hold(place).catch(() => {});
    });
  }
  for (let first = 0; first < connections; first += OPENED_AT_A_TIME) {
    const places = Array.from({ length: Math.min(OPENED_AT_A_TIME, connections - first) }, (_, i) => first + i);
    await Promise.all(places.map(hold));
  }
  let tick = 0;
  /** In small groups, so that they do not all send at once. */
  const timer = setInterval(() => {
    for (let i = tick++ % TICKS_PER_SECOND; i < connections; i += TICKS_PER_SECOND) {
      const socket = sockets[i];
      if (socket?.writable === true) socket.write(slow.subarray(socket.bytesWritten, socket.bytesWritten + 1));
    }
  }, 1000 / TICKS_PER_SECOND);
  if (state !== "slow") clearInterval(timer);
  return async () => {
    await sleep(seconds * 1000);
    isHolding = false;
    clearInterval(timer);
    for (const socket of sockets) socket?.destroy();
    return { reopened };
  };
});
