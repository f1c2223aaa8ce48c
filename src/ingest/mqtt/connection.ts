// One client of the embedded endpoint. Publishes that may not be ingested yet are held, while control packets behind them are still
// read and answered; the socket is paused only when the client's held bytes reach their limit. What is not read stays with its sender.

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { IConnectPacket, IPublishPacket, Packet } from "mqtt-packet";
import type { MqttDisconnectReason } from "../../domain/events.ts";
import type { Client, KeySession } from "./authentication.ts";
import { type ConnectionLimits, ControlLimit, RateGate, ReadTimes } from "./limits.ts";
import {
  CLIENT_PACKETS,
  type ConnectError,
  DISCONNECT_CODES,
  type FixedHeader,
  type MqttVersion,
  PacketBuffer,
  PacketReader,
  PacketType,
  PacketWriter,
  ReasonCode,
} from "./protocol.ts";
import { acceptedConnack, publishError, readConnect, reasonProperties, refusedConnack, replyToControl } from "./replies.ts";

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
const TCP_KEEP_ALIVE_MS = 60_000;
const SECOND_MS = 1000;
const KEEP_ALIVE_TOLERANCE = 1.5;

export class Connection implements Client {
  readonly address: string;
  session: KeySession | undefined;
  clientId = "";
  readonly #socket: Socket;
  readonly #handler: ConnectionHandler;
  readonly #limits: ConnectionLimits;
  readonly #input = new PacketBuffer();
  readonly #output: PacketWriter;
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
  readonly #control: ControlLimit;
  #isMemoryLimited = false;
  #isScheduled = false;
  readonly #times = new ReadTimes();
  #silentMs: number;

  constructor(socket: Socket, handler: ConnectionHandler) {
    this.address = socket.remoteAddress ?? "";
    this.#socket = socket;
    this.#output = new PacketWriter(socket);
    this.#handler = handler;
    this.#limits = handler.limits;
    this.#silentMs = handler.limits.connectMs;
    this.#control = new ControlLimit(handler.limits.controlPackets, this.#schedule);
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
    const isOutputLate = this.#socket.writableNeedDrain && this.#times.isPausedFor(packetMs, now);
    if (isOutputLate || this.#times.isLate(packetMs, this.#silentMs, now)) this.close("too_slow");
  }

  #receive(chunk: Buffer): void {
    if (this.#phase !== "connecting") this.#times.received();
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
    if (header === undefined || this.#socket.writableNeedDrain || this.#control.isReached) return false;
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
    if (!CLIENT_PACKETS.has(header.type)) {
      this.close("protocol");
      return false;
    }
    if (!this.#control.take()) return false;
    this.#handleControl(header, this.#input.take(header.size));
    return true;
  }

  #sizeLimit({ type }: FixedHeader): number {
    if (type === PacketType.publish) return this.#limits.publishBytes;
    return type === PacketType.connect ? this.#limits.connectBytes : this.#limits.controlBytes;
  }

  #connect(bytes: Buffer): void {
    const request = readConnect(bytes, this.#reader);
    this.#version = request.version;
    if ("error" in request) {
      this.#handler.dropped(this, request.reason);
      if (request.error === undefined) this.#end();
      else this.#refuse(request.error);
      return;
    }
    const { packet } = request;
    this.#maxReplyBytes = packet.properties?.maximumPacketSize ?? Number.POSITIVE_INFINITY;
    this.#wantsReasons = packet.properties?.requestProblemInformation !== false;
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
    this.#times.received();
    this.#phase = "open";
    this.#send(acceptedConnack(this.#limits, packet.clientId === "" ? clientId : undefined));
    this.#process();
  }

  #refuse(error: ConnectError): void {
    this.#send(refusedConnack(error));
    this.#end();
  }

  /** False while the packet is incomplete and nothing behind it can be read. */
  #receivePublish({ size, qos }: FixedHeader): boolean {
    const received = Math.min(size, this.#input.length);
    const isComplete = received === size;
    if (this.#partialBytes !== undefined) {
      const more = received - this.#partialBytes;
      this.#isMemoryLimited = more > 0 && this.session?.memory.reserve(more, this.#schedule, true) !== true;
      if (this.#isMemoryLimited) return false;
      this.#partialBytes = isComplete ? undefined : received;
      if (!isComplete) return false;
      this.session?.memory.complete(this.#schedule);
      if (this.#countUnacknowledged(qos)) this.#publish(this.#input.take(size), size + MESSAGE_OVERHEAD);
      return true;
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
    const properties = this.#version === 5 && this.#wantsReasons ? reasonProperties(reason, this.#maxReplyBytes) : {};
    this.#send({ cmd: qos === 1 ? "puback" : "pubrec", messageId, reasonCode: code, ...properties });
  }

  #handleControl({ type }: FixedHeader, bytes: Buffer): void {
    if (type === PacketType.disconnect) {
      this.#socket.end();
      this.#leave();
      return;
    }
    const packet = type === PacketType.pingreq ? ({ cmd: "pingreq" } as const) : this.#reader.read(bytes);
    // PUBREL belongs to a message, and does not count as a control packet.
    if (packet?.cmd === "pubrel" && this.#unreleased.has(packet.messageId ?? 0)) this.#control.giveBack();
    const reply = replyToControl(packet, this.#version, this.#unreleased);
    if (typeof reply === "number") this.close("protocol", reply);
    else this.#send(reply);
  }

  #send(packet: Packet): void {
    if (this.#phase !== "ended") this.#output.send(packet, this.#version);
  }

  /** Pauses or resumes the socket, and notes when the packet that is being received began. */
  #updateReading(hasConsumed: boolean): void {
    const { length } = this.#input;
    this.#times.packet(length > 0, hasConsumed);
    const unread = this.#heldBytes + (this.#partialBytes === undefined ? length : 0);
    const isLimited = this.#isMemoryLimited || this.#control.isReached || unread >= this.#limits.heldBytes;
    const isPaused = isLimited || this.#socket.writableNeedDrain;
    if (isPaused === this.#times.isPaused) return;
    if (isPaused) {
      this.#times.pause();
      this.#socket.pause();
    } else {
      this.#times.resume();
      this.#socket.resume();
    }
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
    this.#control.stop();
    this.#held.length = 0;
    this.#input.clear();
    this.#handler.ended(this);
    this.#output.finish();
  }
}
