// One client of the embedded endpoint. Publishes that may not be ingested yet are held, while control packets behind them are still
// read and answered; the socket is paused only when the client's held bytes reach their limit. What is not read stays with its sender.

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { IConnectPacket, IPublishPacket, Packet } from "mqtt-packet";
import type { MqttDisconnectReason } from "../../domain/events.ts";
import type { Client, KeySession } from "./authentication.ts";
import { RateGate } from "./limits.ts";
import {
  type ConnectError,
  connackCodes,
  DISCONNECT_CODES,
  encode,
  type FixedHeader,
  type MqttVersion,
  PacketBuffer,
  PacketReader,
  PacketType,
  ReasonCode,
  requestedVersion,
} from "./protocol.ts";

export type ConnectionLimits = {
  /** Sizes of packets: PUBLISH, CONNECT, and any other. */
  readonly publishBytes: number;
  readonly connectBytes: number;
  readonly controlBytes: number;
  /** Messages of one client in progress; the Receive Maximum of MQTT 5. */
  readonly inFlight: number;
  /** Received bytes of messages that may not be ingested yet: the socket is paused when there are more. */
  readonly heldBytes: number;
  /** Packets per second that are neither publishes nor belong to one. */
  readonly controlPackets: number;
  /** For a client to send CONNECT. */
  readonly connectMs: number;
  /** For one packet to arrive, or for a reply to be read. Time in which we did not read does not count. */
  readonly packetMs: number;
  /** Without any packet, for clients that set no keep-alive. */
  readonly silentMs: number;
};

/** The reply to a PUBLISH that was ingested; a code from 0x80 says that it was rejected. */
export type Acknowledgement = { readonly code: number; readonly reason?: string };

/** What a connection needs from its endpoint. */
export type ConnectionHandler = {
  readonly limits: ConnectionLimits;
  readonly authenticate: (connection: Connection, packet: IConnectPacket, clientId: string) => Promise<KeySession | ConnectError>;
  /** `settle` is called once; with a disconnect reason where the message must not be acknowledged. */
  readonly publish: (
    session: KeySession,
    packet: IPublishPacket,
    settle: (result: Acknowledgement | MqttDisconnectReason) => void,
  ) => void;
  /** The endpoint closed the connection, and why. */
  readonly dropped: (connection: Connection, reason: MqttDisconnectReason) => void;
  /** Nothing of the connection is left, with the session it had. */
  readonly ended: (connection: Connection) => void;
};

/** `leaving`: the client is gone, held messages are still ingested. */
type Phase = "connecting" | "authenticating" | "open" | "leaving" | "ended";

/** Roughly the memory of a message besides its bytes. */
const MESSAGE_OVERHEAD = 512;
const FLUSH_MS = 1000;
const TCP_KEEP_ALIVE_MS = 60_000;
const SECOND_MS = 1000;
const KEEP_ALIVE_TOLERANCE = 1.5;
const MAX_REASON_LENGTH = 256;

/**
 * ChirpStack subscribes to the commands for its devices and gives up the connection if it may not. There are never any commands,
 * so this subscription is granted; all others are refused.
 */
const CHIRPSTACK_COMMANDS = /^(\$share\/[^/]+\/)?application\/[^/]+\/device\/[^/]+\/command\/[^/]+$/;

export class Connection implements Client {
  readonly address: string;
  session: KeySession | undefined;
  clientId = "";
  readonly #socket: Socket;
  readonly #handler: ConnectionHandler;
  readonly #limits: ConnectionLimits;
  readonly #input = new PacketBuffer();
  readonly #reader = new PacketReader();
  #phase: Phase = "connecting";
  #version: MqttVersion = 4;
  #maxReplyBytes = Number.POSITIVE_INFINITY;
  #wantsReasons = true;
  #rate: RateGate | undefined;
  /** Whole PUBLISH packets that may not be ingested yet. */
  readonly #held: Buffer[] = [];
  #heldBytes = 0;
  /** Memory reserved for the incomplete PUBLISH at the end of the input; undefined if there is none, or it may not begin yet. */
  #partialBytes: number | undefined;
  #inFlight = 0;
  /** Messages of QoS 1 and 2 received and not yet acknowledged, held ones included. */
  #unacknowledged = 0;
  /** Ids of QoS 2 messages: being ingested, and ingested but not yet released by the client. */
  readonly #ingesting = new Set<number>();
  readonly #unreleased = new Set<number>();
  #controlCount = 0;
  #controlTimer: NodeJS.Timeout | undefined;
  #isControlLimited = false;
  #isMemoryLimited = false;
  #isScheduled = false;
  #isCorked = false;
  /** Times of `performance.now()`. `#receivedAt` and `#packetSince` are later by the time in which we did not read. */
  #receivedAt = performance.now();
  #packetSince: number | undefined;
  #pausedSince: number | undefined;
  #silentMs: number;

  constructor(socket: Socket, handler: ConnectionHandler) {
    this.address = socket.remoteAddress ?? "";
    this.#socket = socket;
    this.#handler = handler;
    this.#limits = handler.limits;
    this.#silentMs = handler.limits.connectMs;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("drain", this.#schedule);
    socket.on("error", () => {});
    socket.on("close", () => this.#leave());
  }

  /** Closes the connection for a reason that the operator is told; a client of MQTT 5 is told too. */
  close(reason: MqttDisconnectReason, code: number = DISCONNECT_CODES[reason]): void {
    if (this.#phase === "ended") return;
    this.#handler.dropped(this, reason);
    this.#disconnect(code);
  }

  /** Another client has connected with the same id. */
  closeTakenOver(): void {
    if (this.#phase !== "leaving") this.#disconnect(ReasonCode.sessionTakenOver);
  }

  closeShuttingDown(): void {
    this.#disconnect(ReasonCode.serverShuttingDown);
  }

  /** Nothing more is read; messages in flight are still acknowledged. */
  stopReading(): void {
    this.#socket.pause();
    this.#socket.removeAllListeners("data");
    this.#held.length = 0;
    this.#input.clear();
  }

  /** Closes the connection if the client takes too long. */
  checkTimeouts(now: number): void {
    if (this.#phase === "leaving" || this.#phase === "authenticating") return;
    const { packetMs } = this.#limits;
    if (this.#pausedSince !== undefined) {
      if (this.#socket.writableNeedDrain && now - this.#pausedSince > packetMs) this.close("too_slow");
      return;
    }
    const isPacketLate = this.#packetSince !== undefined && now - this.#packetSince > packetMs;
    if (isPacketLate || now - this.#receivedAt > this.#silentMs) this.close("too_slow");
  }

  #receive(chunk: Buffer): void {
    if (this.#phase !== "connecting") this.#receivedAt = performance.now();
    this.#input.append(chunk);
    this.#process();
  }

  /** Continues after something that was waited for, once for everything that happened in this turn. */
  readonly #schedule = (): void => {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#process();
    });
  };

  #process(): void {
    if (this.#phase === "ended") return;
    this.#isMemoryLimited = false;
    this.#ingestHeld();
    const before = this.#input.length;
    while (this.#readPacket()) {}
    this.#updateReading(this.#input.length !== before);
    if (this.#phase === "leaving" && this.#held.length === 0) this.#end();
  }

  #ingestHeld(): void {
    if (this.#phase !== "open" && this.#phase !== "leaving") return;
    for (let next = this.#held[0]; next !== undefined && this.#mayBegin(next.length); next = this.#held[0]) {
      this.#held.shift();
      this.#heldBytes -= next.length;
      this.#publish(next, next.length + MESSAGE_OVERHEAD);
    }
  }

  /** Reads the next packet of the input; false if there is none that may be read now. */
  #readPacket(): boolean {
    if (this.#phase !== "connecting" && this.#phase !== "open") return false;
    const header = this.#input.header();
    if (header === undefined || this.#socket.writableNeedDrain || this.#isControlLimited) return false;
    if (this.#phase === "connecting" && header.type !== PacketType.connect) {
      this.close("protocol");
      return false;
    }
    if (header.size > this.#sizeLimit(header)) {
      this.close("packet_too_large");
      return false;
    }
    if (header.type === PacketType.publish) return this.#receivePublish(header);
    if (this.#input.length < header.size) return false;
    if (this.#phase === "connecting") {
      this.#connect(this.#input.take(header.size));
      return true;
    }
    if (!this.#mayControl()) return false;
    this.#handleControl(header, this.#input.take(header.size));
    return true;
  }

  #sizeLimit({ type }: FixedHeader): number {
    if (type === PacketType.publish) return this.#limits.publishBytes;
    return type === PacketType.connect ? this.#limits.connectBytes : this.#limits.controlBytes;
  }

  // --- connecting ---

  #connect(bytes: Buffer): void {
    const version = requestedVersion(bytes);
    if (version !== undefined && (version < 3 || version > 5)) {
      this.#version = version > 5 ? 5 : 4;
      this.#refuse("protocol_version");
      this.#handler.dropped(this, "protocol_version");
      return;
    }
    const packet = this.#reader.read(bytes);
    if (packet?.cmd !== "connect") {
      this.close("protocol");
      return;
    }
    const { properties = {} } = packet;
    this.#version = packet.protocolVersion === 5 ? 5 : 4;
    if (properties.receiveMaximum === 0 || properties.maximumPacketSize === 0) {
      this.close("protocol");
      return;
    }
    if (properties.authenticationMethod !== undefined) {
      this.#refuse("bad_authentication_method");
      this.#handler.dropped(this, "protocol");
      return;
    }
    this.#maxReplyBytes = properties.maximumPacketSize ?? Number.POSITIVE_INFINITY;
    this.#wantsReasons = properties.requestProblemInformation !== false;
    this.#phase = "authenticating";
    void this.#authenticate(packet);
  }

  async #authenticate(packet: IConnectPacket): Promise<void> {
    const clientId = packet.clientId === "" ? `auto-${randomUUID()}` : packet.clientId;
    const session = await this.#handler.authenticate(this, packet, clientId);
    if (typeof session === "string") {
      this.#refuse(session);
      return;
    }
    this.session = session;
    this.clientId = clientId;
    if (this.#phase !== "authenticating") {
      this.#handler.ended(this);
      return;
    }
    this.#rate = new RateGate(session.key.takeToken, this.#schedule);
    this.#silentMs = (packet.keepalive ?? 0) * SECOND_MS * KEEP_ALIVE_TOLERANCE || this.#limits.silentMs;
    this.#receivedAt = performance.now();
    this.#phase = "open";
    const { inFlight: receiveMaximum, publishBytes: maximumPacketSize } = this.#limits;
    this.#send({
      cmd: "connack",
      sessionPresent: false,
      returnCode: 0,
      reasonCode: ReasonCode.success,
      properties: {
        sessionExpiryInterval: 0,
        receiveMaximum,
        maximumPacketSize,
        retainAvailable: false,
        topicAliasMaximum: 0,
        wildcardSubscriptionAvailable: false,
        subscriptionIdentifiersAvailable: false,
        sharedSubscriptionAvailable: false,
        ...(packet.clientId === "" && { assignedClientIdentifier: clientId }),
      },
    });
    this.#process();
  }

  #refuse(error: ConnectError): void {
    this.#send({ cmd: "connack", sessionPresent: false, ...connackCodes(error) });
    this.#end();
  }

  // --- publishes ---

  /** False while the packet is incomplete and nothing behind it can be read. */
  #receivePublish({ size, qos }: FixedHeader): boolean {
    const received = Math.min(size, this.#input.length);
    const isComplete = received === size;
    if (this.#partialBytes !== undefined) {
      if (!this.#reserveMore(received - this.#partialBytes)) return false;
      this.#partialBytes = received;
      if (isComplete) this.#completePartial(size, qos);
      return isComplete;
    }
    if (this.#held.length > 0 || !this.#mayBegin(received)) {
      if (isComplete) this.#hold(size, qos);
      return isComplete;
    }
    if (!isComplete) {
      this.#partialBytes = received;
      return false;
    }
    if (this.#countUnacknowledged(qos)) this.#publish(this.#input.take(size), size + MESSAGE_OVERHEAD);
    return true;
  }

  /** Reserves what one more message in flight needs. */
  #mayBegin(bytes: number): boolean {
    if (this.#inFlight + this.#unreleased.size >= this.#limits.inFlight || this.#rate?.isOpen() !== true) return false;
    if (this.session?.memory.reserve(bytes + MESSAGE_OVERHEAD, this.#schedule) !== true) return false;
    this.#rate.use();
    this.#inFlight++;
    return true;
  }

  #reserveMore(bytes: number): boolean {
    this.#isMemoryLimited = bytes > 0 && this.session?.memory.reserve(bytes, this.#schedule, true) !== true;
    return !this.#isMemoryLimited;
  }

  #completePartial(size: number, qos: number): void {
    this.session?.memory.complete(this.#schedule);
    this.#partialBytes = undefined;
    if (this.#countUnacknowledged(qos)) this.#publish(this.#input.take(size), size + MESSAGE_OVERHEAD);
  }

  #hold(size: number, qos: number): void {
    if (!this.#countUnacknowledged(qos)) return;
    this.#held.push(this.#input.take(size));
    this.#heldBytes += size;
  }

  /** False, and the connection is closed, if a client of MQTT 5 exceeds the Receive Maximum it was told. */
  #countUnacknowledged(qos: number): boolean {
    if (qos === 0) return true;
    this.#unacknowledged++;
    if (this.#version === 4 || this.#unacknowledged + this.#unreleased.size <= this.#limits.inFlight) return true;
    this.close("protocol", ReasonCode.receiveMaximumExceeded);
    return false;
  }

  #publish(bytes: Buffer, reservedBytes: number): void {
    const { session } = this;
    const packet = this.#reader.read(bytes);
    const error = publishError(packet);
    if (session === undefined || packet?.cmd !== "publish" || error !== undefined) {
      session?.memory.release(reservedBytes);
      this.close("protocol", error);
      return;
    }
    const { qos, messageId = 0 } = packet;
    if (qos === 2 && (this.#ingesting.has(messageId) || this.#unreleased.has(messageId))) {
      // Sent again.
      this.#inFlight--;
      this.#unacknowledged--;
      session.memory.release(reservedBytes);
      if (this.#unreleased.has(messageId)) this.#send({ cmd: "pubrec", messageId, reasonCode: ReasonCode.success });
      return;
    }
    if (qos === 2) this.#ingesting.add(messageId);
    this.#handler.publish(session, packet, (result) => {
      session.memory.release(reservedBytes);
      this.#inFlight--;
      if (typeof result === "string") this.close(result);
      else this.#acknowledge(qos, messageId, result);
      this.#schedule();
    });
  }

  #acknowledge(qos: number, messageId: number, { code, reason }: Acknowledgement): void {
    if (qos === 0) return;
    this.#unacknowledged--;
    this.#ingesting.delete(messageId);
    if (qos === 2 && (code < ReasonCode.unspecifiedError || this.#version === 4)) this.#unreleased.add(messageId);
    this.#send({ cmd: qos === 1 ? "puback" : "pubrec", messageId, reasonCode: code, ...this.#explained(reason) });
  }

  /** As a Reason String, if the client accepts one. */
  #explained(reason: string | undefined): { readonly properties?: { readonly reasonString: string } } {
    if (reason === undefined || this.#version === 4 || !this.#wantsReasons) return {};
    const reasonString = reason.slice(0, MAX_REASON_LENGTH).toWellFormed().replaceAll("\0", "");
    return Buffer.byteLength(reasonString) + 16 > this.#maxReplyBytes ? {} : { properties: { reasonString } };
  }

  // --- control packets ---

  #mayControl(): boolean {
    this.#isControlLimited = this.#controlCount >= this.#limits.controlPackets;
    if (this.#isControlLimited) return false;
    this.#controlCount++;
    this.#controlTimer ??= setTimeout(() => {
      this.#controlTimer = undefined;
      this.#controlCount = 0;
      this.#isControlLimited = false;
      this.#process();
    }, SECOND_MS);
    return true;
  }

  #handleControl({ type }: FixedHeader, bytes: Buffer): void {
    if (type === PacketType.pingreq) {
      this.#send({ cmd: "pingresp" });
      return;
    }
    if (type === PacketType.disconnect) {
      this.#socket.end();
      this.#leave();
      return;
    }
    const packet = CONTROL_TYPES.has(type) ? this.#reader.read(bytes) : undefined;
    const messageId = packet?.messageId ?? 0;
    if (packet === undefined || messageId <= 0) {
      this.close("protocol", CONTROL_TYPES.has(type) ? ReasonCode.malformedPacket : ReasonCode.protocolError);
    } else if (packet.cmd === "pubrel") {
      const isKnown = this.#unreleased.delete(messageId);
      // It belongs to the message, and does not count as a control packet.
      if (isKnown) this.#controlCount--;
      this.#send({ cmd: "pubcomp", messageId, reasonCode: isKnown ? ReasonCode.success : ReasonCode.packetIdentifierNotFound });
    } else if (packet.cmd === "subscribe" && packet.subscriptions.length > 0) {
      const refused = this.#version === 5 ? ReasonCode.notAuthorized : 0x80;
      const granted = packet.subscriptions.map(({ topic }) => (CHIRPSTACK_COMMANDS.test(topic) ? 0 : refused));
      this.#send({ cmd: "suback", messageId, granted });
    } else if (packet.cmd === "unsubscribe" && packet.unsubscriptions.length > 0) {
      this.#send({ cmd: "unsuback", messageId, granted: packet.unsubscriptions.map(() => 0) });
    } else this.close("protocol", ReasonCode.malformedPacket);
  }

  // --- output and the end ---

  #send(packet: Packet): void {
    if (!this.#socket.writable || this.#phase === "ended") return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(encode(packet, this.#version));
  }

  /** Pauses or resumes the socket, and notes when the packet that is being received began. */
  #updateReading(hasConsumed: boolean): void {
    const { length } = this.#input;
    if (length === 0) this.#packetSince = undefined;
    else if (hasConsumed || this.#packetSince === undefined) this.#packetSince = performance.now();
    const unread = this.#heldBytes + (this.#partialBytes === undefined ? length : 0);
    const isLimited = this.#isMemoryLimited || this.#isControlLimited || unread >= this.#limits.heldBytes;
    if (isLimited || this.#socket.writableNeedDrain) {
      if (this.#pausedSince === undefined) this.#socket.pause();
      this.#pausedSince ??= performance.now();
      return;
    }
    if (this.#pausedSince === undefined) return;
    const paused = performance.now() - this.#pausedSince;
    this.#pausedSince = undefined;
    this.#receivedAt += paused;
    if (this.#packetSince !== undefined) this.#packetSince += paused;
    this.#socket.resume();
  }

  /** The client is gone. Messages that it sent before are still ingested. */
  #leave(): void {
    if (this.#phase === "ended" || this.#phase === "leaving") return;
    const isOpen = this.#phase === "open";
    this.#phase = "leaving";
    this.#input.clear();
    this.#releasePartial();
    if (isOpen) this.#schedule();
    else this.#end();
  }

  #disconnect(reasonCode: number): void {
    if (this.#phase === "ended") return;
    if (this.#version === 5 && this.#phase === "open") this.#send({ cmd: "disconnect", reasonCode });
    this.#end();
  }

  #releasePartial(): void {
    if (this.#partialBytes === undefined) return;
    this.session?.memory.release(this.#partialBytes + MESSAGE_OVERHEAD);
    this.#partialBytes = undefined;
    this.#inFlight--;
  }

  #end(): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    this.#releasePartial();
    this.session?.memory.cancel(this.#schedule);
    this.#rate?.stop();
    clearTimeout(this.#controlTimer);
    this.#held.length = 0;
    this.#input.clear();
    this.#handler.ended(this);
    if (this.#socket.destroyed) return;
    // Unread input would reset the connection before the client has read the last reply.
    this.#socket.removeAllListeners("data");
    this.#socket.resume();
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), FLUSH_MS);
    this.#socket.once("close", () => clearTimeout(timer));
  }
}

const CONTROL_TYPES: ReadonlySet<number> = new Set([PacketType.pubrel, PacketType.subscribe, PacketType.unsubscribe]);

/** The reason code of MQTT 5 if the packet is not acceptable. */
function publishError(packet: Packet | undefined): number | undefined {
  if (packet?.cmd !== "publish") return ReasonCode.malformedPacket;
  const { topic, qos, messageId = 0, properties } = packet;
  if (properties?.topicAlias !== undefined) return ReasonCode.topicAliasInvalid;
  if (topic === "" || /[+#\0]/.test(topic) || properties?.subscriptionIdentifier !== undefined) return ReasonCode.protocolError;
  return qos > 0 && messageId <= 0 ? ReasonCode.malformedPacket : undefined;
}
