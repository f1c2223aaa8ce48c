// The embedded MQTT endpoint (3.1.1 and 5): clients authenticate with an ingest key and publish readings, which are acknowledged
// after they are stored. It only accepts publishes: no subscriptions, retained messages, wills or sessions.

import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import type { Clock } from "../../domain/instant.ts";
import type { Observe } from "../../domain/log-events.ts";
import { throttled } from "../../domain/throttled.ts";
import type { Ingest } from "../ingest.ts";
import { Batcher } from "./batcher.ts";
import { type AuthenticateClient, ConnectedKeys, DEFAULT_LIMITS, type EndpointLimits } from "./connected-keys.ts";
import { Connection, type ConnectionDependencies } from "./connection.ts";
import { Connections } from "./connections.ts";
import { EventLoopBudget } from "./event-loop-budget.ts";
import { ReasonCode } from "./protocol.ts";
import { ReceiptTimes } from "./receipt-times.ts";

export type EndpointDependencies = {
  readonly ingest: Ingest;
  readonly authenticate: AuthenticateClient;
  readonly observe: Observe;
  readonly clock: Clock;
  /** Whether a connection from its address is accepted; counts it until it closes. */
  readonly admit: (socket: Socket) => boolean;
  readonly limits?: Partial<EndpointLimits>;
};

export type Listener = {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** PEM; without it the listener is plain TCP. */
  readonly tls?: { readonly cert: string; readonly key: string };
};

const CHECK_MS = 500;

export class MqttEndpoint {
  readonly #shared: ConnectionDependencies;
  readonly #admit: EndpointDependencies["admit"];
  readonly #servers: Server[] = [];
  readonly #closeSlow = throttled((connection: Connection) => {
    const isTooSlow = connection.isTooSlow(performance.now());
    if (isTooSlow) connection.closeSlow();
    return isTooSlow;
  });
  #checkTimer: NodeJS.Timeout | undefined;

  constructor({ ingest, authenticate, observe, clock, admit, limits: given }: EndpointDependencies) {
    const limits = { ...DEFAULT_LIMITS, ...given };
    const connectedKeys = new ConnectedKeys(authenticate, limits, observe);
    const batcher = new Batcher("mqtt", ingest, observe);
    const connections = new Connections<Connection>(limits);
    this.#shared = {
      limits,
      connectedKeys,
      batcher,
      observe,
      clock,
      connections,
      eventLoopBudget: new EventLoopBudget(),
      receiptTimes: new ReceiptTimes(),
    };
    this.#admit = admit;
  }

  /** The number of authenticated clients. */
  get clients(): number {
    return this.#shared.connectedKeys.clients;
  }

  /** Rejects with the system's error if it cannot listen. */
  async listen({ host, port, tls }: Listener): Promise<{ readonly port: number }> {
    const { observe } = this.#shared;
    const server = this.#createServer(tls);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    server.on("error", (error) => observe({ kind: "mqtt_failed", error }));
    this.#servers.push(server);
    this.#checkTimer ??= setInterval(() => this.#checkConnections(), CHECK_MS);
    const address = server.address() as AddressInfo;
    const shownHost = address.family === "IPv6" ? `[${address.address}]` : address.address;
    observe({ kind: "mqtt_listening", url: `${tls === undefined ? "mqtt" : "mqtts"}://${shownHost}:${address.port}` });
    return { port: address.port };
  }

  /** Messages that have arrived are stored and acknowledged, then all clients are disconnected. */
  async stop(): Promise<void> {
    const { connections, batcher } = this.#shared;
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    clearInterval(this.#checkTimer);
    for (const connection of connections.all) connection.stopReading();
    await batcher.idle();
    for (const connection of [...connections.all]) connection.disconnect(ReasonCode.serverShuttingDown);
    await Promise.all(closed);
  }

  /** The deadline to connect includes the TLS handshake. */
  #createServer(tls: Listener["tls"]): Server {
    const secureContext = tls && createSecureContext(tls);
    return createServer((socket) => {
      if (!this.#admit(socket)) {
        this.#shared.observe({ kind: "mqtt_client_dropped", reason: "too_many", address: socket.remoteAddress ?? "" });
        socket.resetAndDestroy();
        return;
      }
      new Connection(secureContext ? new TLSSocket(socket, { isServer: true, secureContext }) : socket, this.#shared);
    });
  }

  #checkConnections(): void {
    this.#shared.connectedKeys.recheckKeys();
    const now = performance.now();
    for (const connection of this.#shared.connections.all) {
      connection.check(now);
      if (connection.isTooSlow(now)) this.#closeSlow(connection);
    }
  }
}
