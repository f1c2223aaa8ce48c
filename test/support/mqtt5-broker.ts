// A small MQTT 5 broker: sessions that outlive a connection, shared subscriptions, QoS 1 with the client's receive maximum,
// unacknowledged messages sent again. Tests publish through it, see what is acknowledged, and break its connections.

import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { generate, type IConnectPacket, type IPublishPacket, type ISubscribePacket, type Packet, parser } from "mqtt-packet";
import type { Lifetime } from "./service.ts";

type Filter = { readonly group: string | undefined; readonly filter: string; readonly qos: number };
type Queued = { readonly topic: string; readonly payload: string | Buffer; readonly qos: 0 | 1 };

const SESSION_TAKEN_OVER = 0x8e;
const NO_SUBSCRIPTION = 0x11;

class Session {
  readonly clientId: string;
  readonly filters = new Map<string, Filter>();
  readonly queue: Queued[] = [];
  readonly inFlight = new Map<number, Queued>();
  nextId = 1;
  receiveMaximum = 65_535;
  version = 5;
  socket: Socket | undefined;

  constructor(clientId: string) {
    this.clientId = clientId;
  }
}

/** `closing`: it closes a new connection without a CONNACK. `no suback`: it never confirms a subscription. */
type Behaviour = "normal" | "closing" | "mqtt 3.1.1 only" | "unauthorized" | "no suback";

export class Mqtt5Broker {
  readonly connects: IConnectPacket[] = [];
  readonly subscribed: string[] = [];
  /** Payloads, in the order in which they were acknowledged. */
  readonly acknowledged: string[] = [];
  /** Payloads, as often as they were sent. */
  readonly sent: string[] = [];
  readonly disconnects: string[] = [];
  behaviour: Behaviour = "normal";
  /** Filters that it does not grant. */
  denied: readonly string[] = [];
  sharedSubscriptionAvailable = true;
  port = 0;
  readonly #server: Server = createServer((socket) => this.serve(socket));
  readonly #sessions = new Map<string, Session>();
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  async listen(life: Lifetime): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(this.port, "127.0.0.1", resolve));
    this.port = (this.#server.address() as AddressInfo).port;
    life.after(() => this.close());
    return this;
  }

  /** To every session with a matching filter; to one of those that share a subscription. */
  publish(topic: string, payload: string | Buffer, qos: 0 | 1 = 1): void {
    const groups = new Map<string, Session[]>();
    for (const session of this.#sessions.values()) {
      for (const { group, filter } of session.filters.values()) {
        if (!matches(filter, topic)) continue;
        const name = group ?? session.clientId;
        groups.set(name, [...(groups.get(name) ?? []), session]);
      }
    }
    for (const members of groups.values()) {
      const member = members[this.#turn++ % members.length];
      member?.queue.push({ topic, payload, qos });
      if (member !== undefined) this.#send(member);
    }
  }

  /** Sends the bytes on every connection, and resolves when they are written. */
  async write(bytes: Buffer): Promise<void> {
    await Promise.all([...this.#sockets].map((socket) => new Promise((resolve) => socket.write(bytes, resolve))));
  }

  /** All connections break; sessions stay. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  forgetSessions(): void {
    this.#sessions.clear();
  }

  get unacknowledged(): number {
    return [...this.#sessions.values()].reduce((sum, { inFlight, queue }) => sum + inFlight.size + queue.length, 0);
  }

  async close(): Promise<void> {
    this.drop();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Serves a connection, of its own server or of another. */
  serve(socket: Socket): void {
    this.#sockets.add(socket);
    const reader = parser();
    let session: Session | undefined;
    reader.on("packet", (packet: Packet) => {
      if (packet.cmd === "connect") session = this.#connect(packet, socket);
      else if (session !== undefined) this.#receive(session, packet);
    });
    reader.on("error", () => socket.destroy());
    socket.on("data", (bytes: Buffer) => reader.parse(bytes));
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#sockets.delete(socket);
      if (session?.socket === socket) session.socket = undefined;
    });
  }

  #connect(packet: IConnectPacket, socket: Socket): Session | undefined {
    this.connects.push(packet);
    const { protocolVersion: version = 4, clientId, clean, properties } = packet;
    if (this.behaviour === "closing") {
      socket.destroy();
      return undefined;
    }
    if (this.behaviour === "unauthorized" || (this.behaviour === "mqtt 3.1.1 only" && version === 5)) {
      const codes = this.behaviour === "unauthorized" ? { reasonCode: 135, returnCode: 5 } : { reasonCode: 132, returnCode: 1 };
      socket.end(generate({ cmd: "connack", sessionPresent: false, ...codes, properties: {} }, { protocolVersion: version }));
      return undefined;
    }
    const known = clean ? undefined : this.#sessions.get(clientId);
    const session = known ?? new Session(clientId);
    this.#reply(session, { cmd: "disconnect", reasonCode: SESSION_TAKEN_OVER });
    session.socket?.end();
    Object.assign(session, { socket, version, receiveMaximum: properties?.receiveMaximum ?? 65_535 });
    this.#sessions.set(clientId, session);
    const { sharedSubscriptionAvailable } = this;
    this.#reply(session, {
      cmd: "connack",
      sessionPresent: known !== undefined,
      ...(version === 5 ? { reasonCode: 0, properties: { sharedSubscriptionAvailable } } : { returnCode: 0 }),
    });
    for (const [id, queued] of session.inFlight) this.#deliver(session, id, queued, true);
    this.#send(session);
    return session;
  }

  #receive(session: Session, packet: Packet): void {
    if (packet.cmd === "subscribe" && this.behaviour !== "no suback") this.#subscribe(session, packet);
    if (packet.cmd === "unsubscribe") {
      const granted = packet.unsubscriptions.map((topic) => (session.filters.delete(topic) ? 0 : NO_SUBSCRIPTION));
      this.#reply(session, { cmd: "unsuback", messageId: packet.messageId ?? 0, granted });
    }
    if (packet.cmd === "pingreq") this.#reply(session, { cmd: "pingresp" });
    if (packet.cmd === "disconnect") this.disconnects.push(session.clientId);
    if (packet.cmd !== "puback") return;
    const queued = session.inFlight.get(packet.messageId ?? 0);
    if (queued === undefined) throw new Error(`${packet.messageId} is acknowledged but was not sent`);
    session.inFlight.delete(packet.messageId ?? 0);
    this.acknowledged.push(String(queued.payload));
    this.#send(session);
  }

  #subscribe(session: Session, { messageId, subscriptions }: ISubscribePacket): void {
    const granted = subscriptions.map(({ topic, qos }) => {
      const [, group, shared] = /^\$share\/([^/]+)\/(.+)$/.exec(topic) ?? [];
      const filter = shared ?? topic;
      this.subscribed.push(topic);
      if (this.denied.includes(filter)) return session.version === 5 ? 135 : 128;
      session.filters.set(topic, { group, filter, qos });
      return qos;
    });
    this.#reply(session, { cmd: "suback", messageId: messageId ?? 0, granted });
  }

  /** As many as the client allows that are not yet acknowledged; of QoS 0, all. */
  #send(session: Session): void {
    while (session.socket !== undefined && session.queue.length > 0 && session.inFlight.size < session.receiveMaximum) {
      const queued = session.queue.shift();
      if (queued === undefined) return;
      const id = queued.qos === 0 ? 0 : session.nextId++;
      if (queued.qos === 1) session.inFlight.set(id, queued);
      this.#deliver(session, id, queued, false);
    }
  }

  #deliver(session: Session, messageId: number, { topic, payload, qos }: Queued, dup: boolean): void {
    this.sent.push(String(payload));
    const packet: IPublishPacket = { cmd: "publish", topic, payload, qos, dup, retain: false, messageId };
    this.#reply(session, packet);
  }

  #reply({ socket, version }: Session, packet: Packet): void {
    socket?.write(generate(packet, { protocolVersion: version }));
  }
}

/** `+` is any one level; the tests use no other wildcard. */
function matches(filter: string, topic: string): boolean {
  const levels = topic.split("/");
  const wanted = filter.split("/");
  return wanted.length === levels.length && wanted.every((level, i) => level === "+" || level === levels[i]);
}
