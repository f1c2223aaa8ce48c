// MQTT as far as the endpoint needs it: incoming bytes cut into packets, reason codes, and replies for MQTT 3.1.1 and 5.

import type { Socket } from "node:net";
import { generate, type Packet, parser } from "mqtt-packet";
import type { ErrorCode } from "../../domain/errors.ts";
import type { MqttDisconnectReason } from "../../domain/events.ts";

/** Packet types a client may send to an endpoint that only accepts publishes. */
export const PacketType = {
  connect: 1,
  publish: 3,
  pubrel: 6,
  subscribe: 8,
  unsubscribe: 10,
  pingreq: 12,
  disconnect: 14,
} as const;

export const CLIENT_PACKETS: ReadonlySet<number> = new Set(Object.values(PacketType));

/** Reason codes of MQTT 5. */
export const ReasonCode = {
  success: 0x00,
  unspecifiedError: 0x80,
  malformedPacket: 0x81,
  protocolError: 0x82,
  unsupportedProtocolVersion: 0x84,
  badUserNameOrPassword: 0x86,
  notAuthorized: 0x87,
  serverUnavailable: 0x88,
  serverBusy: 0x89,
  serverShuttingDown: 0x8b,
  badAuthenticationMethod: 0x8c,
  keepAliveTimeout: 0x8d,
  sessionTakenOver: 0x8e,
  topicNameInvalid: 0x90,
  packetIdentifierNotFound: 0x92,
  receiveMaximumExceeded: 0x93,
  topicAliasInvalid: 0x94,
  packetTooLarge: 0x95,
  quotaExceeded: 0x97,
  payloadFormatInvalid: 0x99,
  connectionRateExceeded: 0x9f,
} as const;

export type MqttVersion = 4 | 5;

/** Why a CONNECT was refused. */
export type ConnectError = ErrorCode | "too_many" | "bad_authentication_method" | "protocol_version";

export const DISCONNECT_CODES: Readonly<Record<MqttDisconnectReason, number>> = {
  protocol: ReasonCode.protocolError,
  protocol_version: ReasonCode.unsupportedProtocolVersion,
  packet_too_large: ReasonCode.packetTooLarge,
  too_slow: ReasonCode.keepAliveTimeout,
  too_many: ReasonCode.quotaExceeded,
  key: ReasonCode.notAuthorized,
  store_unavailable: ReasonCode.serverBusy,
  failed: ReasonCode.unspecifiedError,
};

export type FixedHeader = {
  readonly type: number;
  /** Of the whole packet, in bytes. */
  readonly size: number;
  readonly qos: number;
};

const EMPTY: Buffer = Buffer.alloc(0);

/** Received bytes that are not yet taken as packets. */
export class PacketBuffer {
  #bytes = EMPTY;
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  /** Grows by doubling, so that bytes that arrive one by one are not copied each time. */
  append(chunk: Buffer): void {
    const { length } = this;
    if (length === 0) {
      this.#bytes = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      return;
    }
    if (this.#end + chunk.length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(2 * (length + chunk.length));
      this.#bytes.copy(grown, 0, this.#start, this.#end);
      this.#bytes = grown;
      this.#start = 0;
      this.#end = length;
    }
    chunk.copy(this.#bytes, this.#end);
    this.#end += chunk.length;
  }

  /** The header of the next packet; undefined while it is incomplete. A malformed length counts as infinite. */
  header(): FixedHeader | undefined {
    if (this.length < 2) return undefined;
    const first = this.#bytes[this.#start] ?? 0;
    let length = 0;
    for (let i = 0; i < 4; i++) {
      const at = this.#start + 1 + i;
      if (at >= this.#end) return undefined;
      const byte = this.#bytes[at] ?? 0;
      length += (byte & 127) * 128 ** i;
      if (byte < 128) return { type: first >> 4, size: 2 + i + length, qos: (first >> 1) & 3 };
    }
    return { type: first >> 4, size: Number.POSITIVE_INFINITY, qos: 0 };
  }

  /** Removes and returns the next `size` bytes, without copying them. */
  take(size: number): Buffer {
    const bytes = this.#bytes.subarray(this.#start, this.#start + size);
    this.#start += size;
    if (this.length === 0) this.clear();
    return bytes;
  }

  clear(): void {
    this.#bytes = EMPTY;
    this.#start = 0;
    this.#end = 0;
  }
}

/** Parses the packets of one client, one whole packet at a time. The CONNECT packet sets the version for all that follow. */
export class PacketReader {
  readonly #parser = parser();
  #packet: Packet | undefined;

  constructor() {
    this.#parser.on("packet", (packet) => {
      this.#packet = packet;
    });
    // Nothing was emitted then: `read` returns undefined.
    this.#parser.on("error", () => {});
  }

  /** Undefined if the packet is malformed. */
  read(bytes: Buffer): Packet | undefined {
    this.#packet = undefined;
    try {
      this.#parser.parse(bytes);
    } catch {
      return undefined;
    }
    return this.#packet;
  }
}

export const encode = (packet: Packet, protocolVersion: MqttVersion): Buffer => generate(packet, { protocolVersion });

const FLUSH_MS = 1000;

/** Writes the replies of one turn together. */
export class PacketWriter {
  readonly #socket: Socket;
  #isCorked = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  send(packet: Packet, version: MqttVersion): void {
    if (!this.#socket.writable) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(encode(packet, version));
  }

  /** Ends the connection after the last reply. Input is discarded: unread, it would reset the connection before that. */
  finish(): void {
    if (this.#socket.destroyed) return;
    this.#socket.removeAllListeners("data");
    this.#socket.resume();
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), FLUSH_MS);
    this.#socket.once("close", () => clearTimeout(timer));
  }
}
