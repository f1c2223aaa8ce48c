// One client of the embedded endpoint. Publishes that may not be ingested yet are held, while control packets behind them still
// get responses; the socket is paused only when the client's held bytes reach their limit. What is not read stays with its sender.

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { IConnectPacket, Packet } from "mqtt-packet";
import type { Clock } from "../../domain/instant.ts";
import type { MqttDisconnectReason, Observe } from "../../domain/log-events.ts";
import { createMqttMessage } from "../decode.ts";
import type { Batcher, MessageResult } from "./batcher.ts";
import { BufferedBytes, RateToken } from "./budgets.ts";
import type { ConnectedClient, ConnectedKey, ConnectedKeys, EndpointLimits } from "./connected-keys.ts";
import type { Connections } from "./connections.ts";
import { Deadlines } from "./deadlines.ts";
import type { EventLoopBudget } from "./event-loop-budget.ts";
import { InFlight } from "./in-flight.ts";
import {
  type Acknowledgement,
  acceptedConnack,
  type ConnectError,
  createPacketReader,
  DISCONNECT_CODES,
  type MqttVersion,
  ownCopy,
  PacketBuffer,
  PacketType,
  packetError,
  propertiesSize,
  publishError,
  ReasonCode,
  type ReceivedPacket,
  ReplyWriter,
  reasonProperties,
  rejectedConnack,
  replyTo,
  replyToControl,
  replyVersion,
} from "./protocol.ts";
import type { ReceiptTimes } from "./receipt-times.ts";

/** What all connections of an endpoint share. */
export type ConnectionDependencies = {
  readonly limits: EndpointLimits;
  readonly connectedKeys: ConnectedKeys;
  readonly batcher: Batcher;
  readonly eventLoopBudget: EventLoopBudget;
  readonly receiptTimes: ReceiptTimes;
  readonly observe: Observe;
  readonly clock: Clock;
  readonly connections: Connections<Connection>;
};

/** `leaving`: the client is gone, held messages are still ingested. */
type Phase = "connecting" | "authenticating" | "open" | "leaving" | "ended";

/** Roughly the memory of a message besides its bytes. */
const MESSAGE_OVERHEAD = 512;
const HELD_OVERHEAD = 128;
const TCP_KEEP_ALIVE_MS = 60_000;
/** A control packet counts as one for each of these: the more topics or properties it has, the longer it takes. */
const CONTROL_UNIT_BYTES = 64;

export class Connection implements ConnectedClient {
  readonly address: string;
  readonly #socket: Socket;
  readonly #replies: ReplyWriter;
  readonly #shared: ConnectionDependencies;
  readonly #input = new PacketBuffer();
  readonly #parse = createPacketReader();
  #phase: Phase = "connecting";
  #version: MqttVersion = 4;
  #maxReasonBytes = 0;
  #connectedKey: ConnectedKey | undefined;
  #clientId = "";
  /** Whole PUBLISH packets that may not be ingested yet. */
  readonly #held: ReceivedPacket[] = [];
  #heldBytes = 0;
  readonly #buffered = new BufferedBytes();
  /** Bytes reserved for an incomplete PUBLISH that is too large to be held. It is the only one then. */
  #reservedBytes = 0;
  readonly #inFlight: InFlight;
  #resendTimer: NodeJS.Timeout | undefined;
  readonly #token = new RateToken();
  /** Cost of control packets since the last check. */
  #controlCost = 0;
  #isScheduled = false;
  /** The rest of the input is processed in a later iteration of the event loop. */
  #isDeferred = false;
  readonly #deadlines: Deadlines;

  constructor(socket: Socket, shared: ConnectionDependencies) {
    this.address = socket.remoteAddress ?? "";
    this.#socket = socket;
    this.#replies = new ReplyWriter(socket);
    this.#shared = shared;
    this.#inFlight = new InFlight(shared.limits.inFlight);
    this.#deadlines = new Deadlines(shared.limits);
    shared.connections.open(this);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.on("data", (chunk: Buffer) => {
      if (this.#phase === "open") this.#deadlines.received();
      this.#input.append(chunk);
      this.#process();
    });
    socket.on("drain", this.#schedule);
    socket.on("error", () => {});
    socket.on("close", () => {
      shared.connections.close(this);
      this.#leave();
    });
  }

  /** Closes a connection that is not a client's in favour of another. */
  drop(): void {
    this.#shared.connections.close(this);
    this.#shared.observe({ kind: "mqtt_client_dropped", reason: "too_many", address: this.address });
    this.#socket.destroy();
  }

  /** Closes the connection and logs the reason; MQTT 5 clients get a reason code. */
  close(reason: MqttDisconnectReason, code: number = DISCONNECT_CODES[reason]): void {
    if (this.#phase === "ended" || (this.#phase === "leaving" && reason !== "key")) return;
    this.#shared.observe({ kind: "mqtt_client_dropped", reason, address: this.address });
    this.disconnect(code);
  }

  disconnect(reasonCode: number): void {
    if (this.#phase === "open" && this.#version === 5) this.#send({ cmd: "disconnect", reasonCode });
    this.#end();
  }

  /** Nothing more is read; messages in flight are still acknowledged. */
  stopReading(): void {
    this.#socket.pause();
    this.#socket.removeAllListeners("data");
    this.#held.length = 0;
    this.#input.clear();
  }

  /** Called every half second: allows more control packets, reads a paused client again where possible, and sends it PINGRESP. */
  check(now: number): void {
    if (this.#deadlines.isPaused) this.#schedule();
    this.#controlCost = 0;
    if (this.#phase === "open" && this.#deadlines.isPingDue(now)) this.#send({ cmd: "pingresp" });
  }

  isTooSlow(now: number): boolean {
    if (this.#phase === "leaving" || this.#phase === "ended") return false;
    return this.#deadlines.isExceeded(now, this.#socket.writableNeedDrain);
  }

  /** While a client authenticates, it is the store that is too slow. */
  closeSlow(): void {
    this.close(this.#phase === "authenticating" ? "store_unavailable" : "too_slow");
  }

  /** Continues after something that was waited for, once for everything that happened in this iteration of the event loop. */
  readonly #schedule = (): void => {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#process();
    });
  };

  #process(): void {
    const before = this.#input.length;
    do this.#ingestHeld();
    while (this.#readPacket());
    if (this.#phase === "ended") return;
    this.#input.compact();
    if (this.#held[0] !== undefined) this.#held[0].bytes = ownCopy(this.#held[0].bytes);
    this.updateReading(this.#input.length !== before);
    if (this.#phase === "leaving" && this.#held.length === 0) this.#end();
  }

  /** Whether to leave the rest for a later iteration of the event loop. */
  #isBudgetUsedUp(): boolean {
    if (this.#isDeferred || !this.#shared.eventLoopBudget.isUsedUp()) return this.#isDeferred;
    this.#isDeferred = true;
    this.#shared.eventLoopBudget.defer(this.#connectedKey?.keyId ?? this.address, () => {
      this.#isDeferred = false;
      this.#process();
    });
    return true;
  }

  /** Reads the next packet of the input; false if there is none that may be read now. */
  #readPacket(): boolean {
    const isConnecting = this.#phase === "connecting";
    if ((!isConnecting && this.#phase !== "open") || this.#isBlocked()) return false;
    const header = this.#input.header();
    if (header === undefined || this.#isBudgetUsedUp()) return false;
    const { type, size, qos } = header;
    const error = packetError(header, isConnecting, this.#shared.limits);
    if (error !== undefined) {
      this.close(error);
      return false;
    }
    const isPublish = type === PacketType.publish;
    if (this.#input.length < size) {
      const isTooLargeToHold = isPublish && this.#held.length === 0 && !this.#mayHold();
      if (isTooLargeToHold && this.#reservedBytes === 0 && this.#tryBegin(size)) this.#reservedBytes = size;
      return false;
    }
    if (isPublish && this.#held.length > 0 && !this.#mayHold(size)) return false;
    const bytes = this.#input.take(size);
    if (isConnecting) this.#connect(bytes);
    else if (isPublish) this.#hold(bytes, qos);
    else this.#handleControl(type, bytes);
    return true;
  }

  /** Nothing is read while the client does not read our replies, or has sent too many control packets. */
  #isBlocked(): boolean {
    return this.#socket.writableNeedDrain || this.#controlCost >= this.#shared.limits.controlPackets;
  }

  #mayHold(bytes = this.#input.length): boolean {
    return this.#heldBytes + bytes < this.#shared.limits.heldBytes && this.#connectedKey?.buffer.isFull !== true;
  }

  #connect(bytes: Buffer): void {
    const packet = this.#parse(bytes);
    const unknownVersion = packet === undefined ? replyVersion(bytes) : undefined;
    this.#version = unknownVersion ?? (packet?.cmd === "connect" && packet.protocolVersion === 5 ? 5 : 4);
    if (unknownVersion !== undefined) this.#reject("protocol_version", "protocol_version");
    else if (packet?.cmd !== "connect") this.close("protocol");
    else if (packet.properties?.authenticationMethod !== undefined) this.#reject("bad_authentication_method", "protocol");
    else void this.#authenticate(packet);
  }

  #reject(error: ConnectError, reason: MqttDisconnectReason): void {
    this.#send(rejectedConnack(error));
    this.close(reason);
  }

  async #authenticate(packet: IConnectPacket): Promise<void> {
    this.#phase = "authenticating";
    const { requestProblemInformation, maximumPacketSize } = packet.properties ?? {};
    const wantsReasons = this.#version === 5 && requestProblemInformation !== false;
    this.#maxReasonBytes = wantsReasons ? (maximumPacketSize ?? Number.POSITIVE_INFINITY) : 0;
    const { connectedKeys } = this.#shared;
    const clientId = packet.clientId === "" ? `auto-${randomUUID()}` : packet.clientId;
    const connectedKey = await connectedKeys.connect(packet.password?.toString() ?? "", clientId, this);
    if (typeof connectedKey === "string") {
      this.#send(rejectedConnack(connectedKey));
      this.#end();
      return;
    }
    if (this.#phase !== "authenticating") {
      connectedKeys.disconnect(connectedKey, clientId, this);
      return;
    }
    const hasTooMuch = this.#input.length > 0 && connectedKey.buffer.isFull;
    if (hasTooMuch || !this.#shared.connections.accept(this)) {
      connectedKeys.disconnect(connectedKey, clientId, this);
      this.#reject("too_many", "too_many");
      return;
    }
    this.#connectedKey = connectedKey;
    this.#clientId = clientId;
    this.#deadlines.connected(packet.keepalive ?? 0);
    this.#phase = "open";
    this.#send(acceptedConnack(packet, clientId, this.#shared.limits));
    this.#process();
  }

  #hold(bytes: Buffer, qos: number): void {
    // Many small properties would take long to parse.
    if (this.#version === 5 && propertiesSize(bytes) > this.#shared.limits.controlBytes) {
      this.close("packet_too_large");
      return;
    }
    this.#inFlight.receive(qos);
    this.#held.push({ bytes: this.#held.length === 0 ? bytes : ownCopy(bytes), receivedAt: this.#shared.clock() });
    this.#heldBytes += bytes.length + HELD_OVERHEAD;
    if (this.#version === 5 && this.#inFlight.isExceeded) this.close("protocol", ReasonCode.receiveMaximumExceeded);
  }

  #ingestHeld(): void {
    for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
      const { length } = next.bytes;
      if (this.#isBudgetUsedUp() || (this.#reservedBytes === 0 && !this.#tryBegin(length))) return;
      this.#reservedBytes = 0;
      this.#held.shift();
      this.#heldBytes -= length + HELD_OVERHEAD;
      this.#ingest(next);
    }
  }

  /** Reserves what one more message in flight needs. Otherwise `#schedule` is called when it is worth trying again. */
  #tryBegin(bytes: number): boolean {
    if (this.#inFlight.isFull && this.#phase !== "leaving") return false;
    if (this.#connectedKey === undefined || !this.#token.request(this.#connectedKey.key.takeToken, this.#schedule)) return false;
    if (!this.#connectedKey.memory.reserve(bytes + MESSAGE_OVERHEAD, this.#schedule)) return false;
    this.#token.use();
    this.#inFlight.begin();
    return true;
  }

  #ingest({ bytes, receivedAt }: ReceivedPacket): void {
    const packet = this.#parse(bytes);
    const error = publishError(packet);
    if (this.#connectedKey === undefined || packet?.cmd !== "publish" || error !== undefined) {
      this.#release(bytes.length);
      this.close("protocol", error);
      return;
    }
    const { topic, payload, qos, messageId = 0 } = packet;
    const sentAgain = this.#inFlight.identify(qos, messageId);
    if (sentAgain !== undefined) {
      this.#release(bytes.length);
      this.#inFlight.finish(qos);
      if (sentAgain === "stored") this.#send({ cmd: "pubrec", messageId, reasonCode: ReasonCode.success });
      return;
    }
    const publisher = this.#connectedKey;
    const message = createMqttMessage(topic, payload as Buffer, this.#shared.receiptTimes.next(topic, receivedAt));
    const settle = (result: MessageResult): void => {
      this.#release(bytes.length);
      this.#acknowledge(qos, messageId, replyTo(message, publisher.key.sender, result));
      this.#schedule();
    };
    this.#shared.batcher.add({ topic, message, publisher, settle });
  }

  #acknowledge(qos: number, messageId: number, reply: Acknowledgement | MqttDisconnectReason): void {
    const isRejected = typeof reply === "string" || (reply.code !== ReasonCode.success && this.#version === 5);
    this.#inFlight.settle(qos, messageId, !isRejected);
    if (reply === "data_damaged") {
      // A client sends a message again when it reconnects, and not before. Until then others of its messages are acknowledged.
      if (qos > 0) this.#resendTimer ??= setTimeout(() => this.close(reply), this.#shared.limits.resendMs);
    } else if (typeof reply === "string") this.close(reply);
    else if (qos > 0) {
      const properties = reply.reason === undefined ? {} : reasonProperties(reply.reason, this.#maxReasonBytes);
      this.#send({ cmd: qos === 1 ? "puback" : "pubrec", messageId, reasonCode: reply.code, ...properties });
    }
  }

  #release(bytes: number): void {
    this.#connectedKey?.memory.release(bytes + MESSAGE_OVERHEAD);
  }

  #handleControl(type: number, bytes: Buffer): void {
    if (type === PacketType.disconnect) {
      this.#socket.end();
      this.#leave();
      return;
    }
    const packet = this.#parse(bytes);
    const isRelease = packet?.cmd === "pubrel" && this.#inFlight.release(packet.messageId ?? 0);
    if (!isRelease) this.#controlCost += Math.ceil(bytes.length / CONTROL_UNIT_BYTES);
    const reply = replyToControl(packet, this.#version, isRelease);
    if (typeof reply === "number") this.close("protocol", reply);
    else this.#send(reply);
  }

  #send(packet: Packet): void {
    if (this.#phase !== "ended") this.#replies.send(packet, this.#version);
  }

  /** Pauses or resumes the socket, and records when the packet that is being received began. */
  updateReading(hasConsumed = false): void {
    this.#buffered.set(this.#heldBytes + (this.#reservedBytes === 0 ? this.#input.length : 0), this.#connectedKey?.buffer);
    const isPaused = this.#isDeferred || this.#isBlocked() || (this.#reservedBytes === 0 && !this.#mayHold());
    const isChanged = this.#deadlines.pause(isPaused);
    if (isChanged && isPaused) this.#socket.pause();
    else if (isChanged) this.#socket.resume();
    this.#deadlines.updatePacketStart(this.#input.length > 0, isChanged || hasConsumed);
  }

  /** The client is gone. Messages that it sent before are still ingested. */
  #leave(): void {
    if (this.#phase === "ended" || this.#phase === "leaving") return;
    this.#phase = "leaving";
    this.#shared.connections.close(this);
    this.#input.clear();
    if (this.#connectedKey === undefined) this.#end();
    else {
      this.#shared.connectedKeys.leave(this.#connectedKey, this.#clientId, this);
      this.#schedule();
    }
  }

  #end(): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    clearTimeout(this.#resendTimer);
    if (this.#reservedBytes > 0) this.#release(this.#reservedBytes);
    this.#held.length = 0;
    this.#input.clear();
    this.#shared.connections.end(this);
    this.#buffered.set(0, this.#connectedKey?.buffer);
    if (this.#connectedKey !== undefined) this.#shared.connectedKeys.disconnect(this.#connectedKey, this.#clientId, this);
    this.#replies.end();
  }
}
