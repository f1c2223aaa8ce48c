// The embedded MQTT endpoint (3.1.1 and 5): clients authenticate with an ingest key and publish readings, which are acknowledged
// after they are stored. It only accepts publishes: no subscriptions, retained messages, wills or sessions.

import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import type { IConnectPacket, IPublishPacket } from "mqtt-packet";
import { deviceKey } from "../../domain/device.ts";
import { RequestError } from "../../domain/errors.ts";
import type { MqttDisconnectReason, Observe } from "../../domain/events.ts";
import type { Clock } from "../../domain/instant.ts";
import { createMqttMessage, type MqttMessage } from "../decode/message.ts";
import type { Ingest, ReadingResult, Sender } from "../ingest.ts";
import { type Authenticate, Authentication, type ClientLimits, isKeyError, type KeySession } from "./authentication.ts";
import { Batcher, isUnavailable, type MessageResult } from "./batcher.ts";
import { type Acknowledgement, Connection, type ConnectionHandler } from "./connection.ts";
import { type ConnectionLimits, MemoryBudget } from "./limits.ts";
import { type ConnectError, ReasonCode } from "./protocol.ts";

export type EndpointLimits = ConnectionLimits &
  ClientLimits & {
    readonly connections: number;
    /** Of messages of all clients that are in progress. */
    readonly memoryBytes: number;
  };

const LIMITS: EndpointLimits = {
  publishBytes: 1_048_576,
  connectBytes: 16_384,
  controlBytes: 1024,
  inFlight: 100,
  heldBytes: 32_768,
  controlPackets: 100,
  connectMs: 10_000,
  packetMs: 30_000,
  // A sensor that reports once a day, and somewhat late, stays connected.
  silentMs: 90_000_000,
  connections: 10_000,
  clientsPerDeviceKey: 10,
  clientsPerKey: 5000,
  memoryBytes: 67_108_864,
};

export type EndpointDependencies = {
  readonly ingest: Ingest;
  readonly authenticate: Authenticate;
  readonly observe: Observe;
  readonly clock: Clock;
  readonly limits?: Partial<EndpointLimits>;
};

export type Listener = {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** PEM; without it the listener is plain TCP. */
  readonly tls?: { readonly cert: string; readonly key: string };
};

const SWEEP_MS = 500;
const STOP_TIMEOUT_MS = 5000;

export class MqttEndpoint {
  readonly #limits: EndpointLimits;
  readonly #observe: Observe;
  readonly #clock: Clock;
  readonly #batcher: Batcher;
  readonly #authentication: Authentication;
  readonly #handler: ConnectionHandler;
  readonly #servers: Server[] = [];
  readonly #connections = new Set<Connection>();
  #sweeper: NodeJS.Timeout | undefined;

  constructor({ ingest, authenticate, observe, clock, limits }: EndpointDependencies) {
    this.#limits = { ...LIMITS, ...limits };
    this.#observe = observe;
    this.#clock = clock;
    this.#batcher = new Batcher("mqtt", ingest, observe);
    const memory = new MemoryBudget(this.#limits.memoryBytes);
    this.#authentication = new Authentication(authenticate, clock, this.#limits, memory);
    this.#handler = {
      limits: this.#limits,
      authenticate: (connection, packet, clientId) => this.#authenticate(connection, packet, clientId),
      publish: (session, packet, settle) => this.#publish(session, packet, settle),
      dropped: ({ address }, reason) => observe({ kind: "mqtt_client_dropped", reason, address }),
      ended: (connection) => this.#ended(connection),
    };
  }

  /** Rejects with the system's error if it cannot listen. */
  async listen({ host, port, tls }: Listener): Promise<{ readonly port: number }> {
    const server = this.#createServer(tls);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    server.on("error", (error) => this.#observe({ kind: "mqtt_failed", error }));
    this.#servers.push(server);
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS);
    const address = server.address() as AddressInfo;
    const shownHost = address.family === "IPv6" ? `[${address.address}]` : address.address;
    const protocol = tls === undefined ? "mqtt" : "mqtts";
    this.#observe({ kind: "mqtt_listening", url: `${protocol}://${shownHost}:${address.port}` });
    return { port: address.port };
  }

  /** Messages that have arrived are stored and acknowledged, then all clients are disconnected. */
  async stop(): Promise<void> {
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    clearInterval(this.#sweeper);
    for (const connection of this.#connections) connection.stopReading();
    await Promise.race([this.#batcher.idle(), sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    for (const connection of [...this.#connections]) connection.closeShuttingDown();
    await Promise.all(closed);
  }

  #createServer(tls: Listener["tls"]): Server {
    const { connections, connectMs } = this.#limits;
    const accept = (socket: Socket): void => this.#accept(socket);
    const server = tls === undefined ? createServer(accept) : createTlsServer({ ...tls, handshakeTimeout: connectMs }, accept);
    // Includes sockets whose TLS handshake is not complete.
    server.maxConnections = connections;
    server.on("tlsClientError", (_error: Error, socket: Socket) => socket.destroy());
    server.on("drop", (data) => this.#dropTooMany(data?.remoteAddress));
    return server;
  }

  #accept(socket: Socket): void {
    if (this.#connections.size >= this.#limits.connections) {
      socket.destroy();
      this.#dropTooMany(socket.remoteAddress);
      return;
    }
    this.#connections.add(new Connection(socket, this.#handler));
  }

  #dropTooMany(address = ""): void {
    this.#observe({ kind: "mqtt_client_dropped", reason: "too_many", address });
  }

  async #authenticate(connection: Connection, packet: IConnectPacket, clientId: string): Promise<KeySession | ConnectError> {
    const { address } = connection;
    const secret = packet.password?.toString() ?? "";
    try {
      if (secret === "") throw new RequestError("key_missing", "Send an ingest key as the password.");
      const session = await this.#authentication.connect(secret, address, clientId, connection);
      if (session === "too_many") this.#dropTooMany(address);
      return session;
    } catch (error) {
      const code = error instanceof RequestError ? error.code : "internal";
      if (code === "internal") this.#observe({ kind: "mqtt_failed", error });
      this.#observe({ kind: "mqtt_client_rejected", code, address });
      return code;
    }
  }

  #publish(
    session: KeySession,
    { topic, payload }: IPublishPacket,
    settle: (result: Acknowledgement | MqttDisconnectReason) => void,
  ): void {
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
    const message = createMqttMessage(topic, bytes, this.#clock());
    const { keyId } = session.key;
    this.#batcher.add({
      topic,
      message,
      keyId,
      sender: () => this.#authentication.sender(session),
      settle: (result) => settle(replyTo(message, session.key.sender, result)),
    });
  }

  #ended(connection: Connection): void {
    this.#connections.delete(connection);
    const { session, clientId } = connection;
    if (session !== undefined) this.#authentication.disconnect(session, clientId, connection);
  }

  #sweep(): void {
    void this.#authentication.sweep();
    const now = performance.now();
    for (const connection of this.#connections) connection.checkTimeouts(now);
  }
}

/**
 * A message that can never be stored is acknowledged, or it would be sent again forever; a client of MQTT 5 is told why. A network
 * server is not: it did not write the message, and ChirpStack's client reconnects after a failure code.
 */
function replyTo(message: MqttMessage, sender: Sender, result: MessageResult): Acknowledgement | MqttDisconnectReason {
  if ("error" in result) {
    if (isUnavailable(result.error)) return "store_unavailable";
    return isKeyError(result.error) ? "key" : "failed";
  }
  const { topic } = message;
  const reason = rejectionOf(result.results);
  if (reason === undefined) return { code: ReasonCode.success };
  if (topic === undefined) return { code: ReasonCode.topicNameInvalid, reason };
  if (topic.format !== "readings") return { code: ReasonCode.success };
  const isOther = sender.deviceId !== null && deviceKey(sender.deviceId) !== deviceKey(topic.device);
  return { code: isOther ? ReasonCode.notAuthorized : ReasonCode.payloadFormatInvalid, reason };
}

/** The first reason, if no reading of the message was accepted. */
function rejectionOf(results: readonly ReadingResult[]): string | undefined {
  const [first] = results;
  const isRejected = results.every((result) => typeof result !== "string");
  return isRejected && first !== undefined && typeof first !== "string" ? first.rejected : undefined;
}
