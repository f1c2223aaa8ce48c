// MQTT 3.1.1 and 5 as far as the endpoint needs it: incoming bytes cut into packets, reason codes, and replies.

import type { Socket } from "node:net";
import { generate, type IConnackPacket, type IConnectPacket, type Packet, parser } from "mqtt-packet";
import { type ErrorCode, hasCode, RequestError } from "../../domain/errors.ts";
import { deviceKey } from "../../domain/id.ts";
import type { Instant } from "../../domain/instant.ts";
import type { MqttDisconnectReason } from "../../domain/log-events.ts";
import type { MqttMessage } from "../decode.ts";
import type { ReadingSender } from "../ingest.ts";
import type { MessageResult } from "./batcher.ts";

export const PacketType = { connect: 1, publish: 3, pubrel: 6, subscribe: 8, unsubscribe: 10, pingreq: 12, disconnect: 14 };

/** Reason codes of MQTT 5, besides those in the tables below. From 0x80 they are failures. */
export const ReasonCode = {
  success: 0x00,
  unspecifiedError: 0x80,
  malformedPacket: 0x81,
  protocolError: 0x82,
  notAuthorized: 0x87,
  serverShuttingDown: 0x8b,
  sessionTakenOver: 0x8e,
  topicNameInvalid: 0x90,
  packetIdentifierNotFound: 0x92,
  receiveMaximumExceeded: 0x93,
  topicAliasInvalid: 0x94,
  payloadFormatInvalid: 0x99,
} as const;

export type MqttVersion = 4 | 5;

export const DISCONNECT_CODES: Readonly<Record<MqttDisconnectReason, number>> = {
  protocol: 0x82,
  protocol_version: 0x84,
  packet_too_large: 0x95,
  too_slow: 0x8d,
  too_many: 0x97,
  key: 0x87,
  store_unavailable: 0x89,
  data_damaged: 0x83,
  failed: 0x80,
};

/** `size`: of the whole packet, in bytes; `headerSize`: of the fixed header in it. */
type FixedHeader = { readonly type: number; readonly qos: number; readonly size: number; readonly headerSize: number };

/** The header of the packet that begins at `start`; undefined while it is incomplete. A malformed length counts as infinite. */
export function fixedHeader(bytes: Buffer, start: number, end: number): FixedHeader | undefined {
  const length = variableInteger(bytes, start + 1, end);
  if (length === undefined) return undefined;
  const first = bytes[start] ?? 0;
  const headerSize = 1 + length.size;
  return { type: first >> 4, qos: (first >> 1) & 3, size: headerSize + length.value, headerSize };
}

/** What a client may send to an endpoint that only accepts publishes. */
const CLIENT_PACKETS: readonly number[] = Object.values(PacketType);

type PacketLimits = { readonly publishBytes: number; readonly connectBytes: number; readonly controlBytes: number };

/** Why a packet is not accepted, by its header. A connection begins with CONNECT. */
export function packetError(
  { type, size }: FixedHeader,
  isConnecting: boolean,
  { publishBytes, connectBytes, controlBytes }: PacketLimits,
): "protocol" | "packet_too_large" | undefined {
  if (isConnecting ? type !== PacketType.connect : !CLIENT_PACKETS.includes(type)) return "protocol";
  const maxBytes = isConnecting ? connectBytes : type === PacketType.publish ? publishBytes : controlBytes;
  return size > maxBytes ? "packet_too_large" : undefined;
}

function variableInteger(
  bytes: Buffer,
  start: number,
  end: number,
): { readonly value: number; readonly size: number } | undefined {
  let value = 0;
  for (let i = 0; i < 4; i++) {
    if (start + i >= end) return undefined;
    const byte = bytes[start + i] ?? 0;
    value += (byte & 127) * 128 ** i;
    if (byte < 128) return { value, size: i + 1 };
  }
  return { value: Number.POSITIVE_INFINITY, size: 4 };
}

/** The size of the properties of a whole PUBLISH of MQTT 5. Whether they are well-formed is left to the parser. */
export function propertiesSize(publish: Buffer): number {
  const { headerSize = 0, qos = 0 } = fixedHeader(publish, 0, publish.length) ?? {};
  const topicSize = 2 + (publish[headerSize] ?? 0) * 256 + (publish[headerSize + 1] ?? 0);
  const start = headerSize + topicSize + (qos > 0 ? 2 : 0);
  return variableInteger(publish, start, publish.length)?.value ?? 0;
}

export const EMPTY_BUFFER: Buffer = Buffer.alloc(0);

/** For bytes that have to wait, in memory of their own: a small packet would keep all that arrived with it in memory. */
export function ownCopy(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

export type ReceivedPacket = { bytes: Buffer; readonly receivedAt: Instant };

/** Received bytes that are not yet taken as packets. */
export class PacketBuffer {
  #bytes = EMPTY_BUFFER;
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

  header(): FixedHeader | undefined {
    return fixedHeader(this.#bytes, this.#start, this.#end);
  }

  /** Removes and returns the next `size` bytes, without copying them. */
  take(size: number): Buffer {
    const bytes = this.#bytes.subarray(this.#start, this.#start + size);
    this.#start += size;
    if (this.length === 0) this.clear();
    return bytes;
  }

  /** Copies a small rest, so that what was taken is released. */
  compact(): void {
    const { length } = this;
    if (length === 0 || length * 4 > this.#bytes.length) return;
    this.#bytes = ownCopy(this.#bytes.subarray(this.#start, this.#end));
    this.#start = 0;
    this.#end = length;
  }

  clear(): void {
    this.#bytes = EMPTY_BUFFER;
    this.#start = 0;
    this.#end = 0;
  }
}

/** Parses the packets of one client, each from its whole bytes; undefined if they are malformed. CONNECT sets the version. */
export function createPacketReader(): (bytes: Buffer) => Packet | undefined {
  const reader = parser();
  let packet: Packet | undefined;
  reader.on("packet", (parsed) => {
    packet = parsed;
  });
  reader.on("error", () => {});
  return (bytes) => {
    packet = undefined;
    try {
      reader.parse(bytes);
      return packet;
    } catch {
      return undefined;
    } finally {
      // The last packet is not kept in memory.
      packet = undefined;
    }
  };
}

const FLUSH_MS = 1000;
const MAX_DISCARDED_BYTES = 1_048_576;

/** Replies of one turn of the event loop are written together. */
export class ReplyWriter {
  readonly #socket: Socket;
  #isCorked = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  send(packet: Packet, protocolVersion: MqttVersion): void {
    if (!this.#socket.writable) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(generate(packet, { protocolVersion }));
  }

  /** The last reply is still sent. Some input is discarded: unread, it would reset the connection before that. */
  end(): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    let discarded = 0;
    socket.removeAllListeners("data");
    socket.on("data", ({ length }: Buffer) => {
      discarded += length;
      if (discarded > MAX_DISCARDED_BYTES) socket.destroy();
    });
    socket.resume();
    socket.end();
    const timer = setTimeout(() => socket.destroy(), FLUSH_MS);
    socket.once("close", () => clearTimeout(timer));
  }
}

/** The form of the reply to a CONNECT with an unknown protocol version; undefined for one that is malformed otherwise. */
export function replyVersion(connect: Buffer): MqttVersion | undefined {
  const name = connect.indexOf("\0\x04MQTT", 0, "latin1");
  const version = (connect[name + 6] ?? 0) & 127;
  const isUnknown = (name === 2 || name === 3) && (version < 3 || version > 5);
  return isUnknown ? (version > 5 ? 5 : 4) : undefined;
}

/** Why a CONNECT was rejected. */
export type ConnectError = ErrorCode | "too_many" | "bad_authentication_method" | "protocol_version";

/** The return code of MQTT 3.1.1 and the reason code of MQTT 5. For any other error the server is unavailable. */
const CONNACK_CODES: Partial<Record<ConnectError, readonly [returnCode: number, reasonCode: number]>> = {
  protocol_version: [1, 0x84],
  key_missing: [4, 0x86],
  key_invalid: [4, 0x86],
  key_expired: [5, 0x87],
  key_revoked: [5, 0x87],
  role_insufficient: [5, 0x87],
  bad_authentication_method: [5, 0x8c],
  too_many: [3, 0x97],
  rate_limited: [3, 0x9f],
  keys_throttled: [3, 0x9f],
};

/** Whether the error concerns the key itself; any other may be over in a moment. */
export function isKeyError(error: unknown): boolean {
  const [returnCode = 0] = (error instanceof RequestError && CONNACK_CODES[error.code]) || [];
  return returnCode >= 4;
}

export function rejectedConnack(error: ConnectError): IConnackPacket {
  const [returnCode, reasonCode] = CONNACK_CODES[error] ?? [3, 0x88];
  return { cmd: "connack", sessionPresent: false, returnCode, reasonCode };
}

type AnnouncedLimits = { readonly inFlight: number; readonly publishBytes: number };

/** The properties are sent to clients of MQTT 5 only. */
export function acceptedConnack(packet: IConnectPacket, clientId: string, limits: AnnouncedLimits): IConnackPacket {
  return {
    cmd: "connack",
    sessionPresent: false,
    returnCode: 0,
    reasonCode: ReasonCode.success,
    properties: {
      sessionExpiryInterval: 0,
      receiveMaximum: limits.inFlight,
      maximumPacketSize: limits.publishBytes,
      retainAvailable: false,
      topicAliasMaximum: 0,
      wildcardSubscriptionAvailable: false,
      subscriptionIdentifiersAvailable: false,
      sharedSubscriptionAvailable: false,
      ...(packet.clientId !== clientId && { assignedClientIdentifier: clientId }),
    },
  };
}

/**
 * ChirpStack subscribes to the commands for its devices and gives up the connection if it may not. There are never any commands,
 * so this subscription is granted; all others are rejected.
 */
const CHIRPSTACK_COMMANDS = /^(\$share\/[^/]+\/)?application\/[^/]+\/device\/[^/]+\/command\/[^/]+$/;

/** The reply to a ping, a subscription or a PUBREL; a reason code if the packet is not acceptable. */
export function replyToControl(packet: Packet | undefined, version: MqttVersion, isRelease: boolean): Packet | number {
  if (packet?.cmd === "pingreq") return { cmd: "pingresp" };
  if (packet?.cmd === "connect") return ReasonCode.protocolError;
  const messageId = packet?.messageId ?? 0;
  if (packet === undefined || messageId <= 0) return ReasonCode.malformedPacket;
  if (packet.cmd === "pubrel") {
    return { cmd: "pubcomp", messageId, reasonCode: isRelease ? ReasonCode.success : ReasonCode.packetIdentifierNotFound };
  }
  if (packet.cmd === "subscribe" && packet.subscriptions.length > 0) {
    const rejected = version === 5 ? ReasonCode.notAuthorized : ReasonCode.unspecifiedError;
    const granted = packet.subscriptions.map(({ topic }) => (CHIRPSTACK_COMMANDS.test(topic) ? 0 : rejected));
    return { cmd: "suback", messageId, granted };
  }
  if (packet.cmd === "unsubscribe" && packet.unsubscriptions.length > 0) {
    return { cmd: "unsuback", messageId, granted: packet.unsubscriptions.map(() => 0) };
  }
  return ReasonCode.malformedPacket;
}

/** The reason code of MQTT 5 if the packet is not acceptable. */
export function publishError(packet: Packet | undefined): number | undefined {
  if (packet?.cmd !== "publish") return ReasonCode.malformedPacket;
  const { topic, qos, messageId = 0, properties } = packet;
  if (properties?.topicAlias !== undefined) return ReasonCode.topicAliasInvalid;
  if (topic === "" || /[+#\0]/.test(topic) || properties?.subscriptionIdentifier !== undefined) return ReasonCode.protocolError;
  return qos > 0 && messageId <= 0 ? ReasonCode.malformedPacket : undefined;
}

/** The reply to a message; a code from 0x80 says that it was rejected. */
export type Acknowledgement = { readonly code: number; readonly reason?: string };

/**
 * A message that can never be stored is acknowledged, or it would be sent again forever; a client of MQTT 5 gets the reason. A
 * network server does not: it did not write the message, and ChirpStack's client reconnects after a failure code. A disconnect
 * reason where the message must not be acknowledged.
 */
export function replyTo(
  message: MqttMessage,
  sender: ReadingSender,
  result: MessageResult,
): Acknowledgement | MqttDisconnectReason {
  if ("error" in result) {
    if (hasCode(result.error, "store_unavailable")) return "store_unavailable";
    if (hasCode(result.error, "data_damaged")) return "data_damaged";
    return isKeyError(result.error) ? "key" : "failed";
  }
  const { topic } = message;
  const [first] = result.results;
  const isStored = result.results.some((reading) => typeof reading === "string");
  if (isStored || first === undefined || typeof first === "string") return { code: ReasonCode.success };
  const reason = first.rejected;
  if (topic === undefined) return { code: ReasonCode.topicNameInvalid, reason };
  if (topic.format !== "readings") return { code: ReasonCode.success };
  const isOther = sender.deviceId !== null && deviceKey(sender.deviceId) !== deviceKey(topic.device);
  return { code: isOther ? ReasonCode.notAuthorized : ReasonCode.payloadFormatInvalid, reason };
}

const MAX_REASON_LENGTH = 256;

/** The Reason String of an acknowledgement, if the client accepts packets that large. */
export function reasonProperties(reason: string, maxBytes: number): { readonly properties?: { readonly reasonString: string } } {
  const reasonString = reason.slice(0, MAX_REASON_LENGTH).toWellFormed().replaceAll("\0", "");
  return Buffer.byteLength(reasonString) + 16 > maxBytes ? {} : { properties: { reasonString } };
}
