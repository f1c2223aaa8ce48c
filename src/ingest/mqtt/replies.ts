// What the endpoint checks in the packets of clients, and what it replies.

import type { IConnackPacket, IConnectPacket, Packet } from "mqtt-packet";
import type { MqttDisconnectReason } from "../../domain/events.ts";
import type { ConnectionLimits } from "./limits.ts";
import { type ConnectError, type MqttVersion, type PacketReader, ReasonCode } from "./protocol.ts";

/** `error`: the CONNECT is refused with a CONNACK; without one the connection is closed. */
type InvalidConnect = {
  readonly version: MqttVersion;
  readonly error: ConnectError | undefined;
  readonly reason: MqttDisconnectReason;
};

export function readConnect(
  bytes: Buffer,
  reader: PacketReader,
): { readonly version: MqttVersion; readonly packet: IConnectPacket } | InvalidConnect {
  const requested = requestedVersion(bytes);
  const version = requested !== undefined && requested >= 5 ? 5 : 4;
  if (requested !== undefined && (requested < 3 || requested > 5)) {
    return { version, error: "protocol_version", reason: "protocol_version" };
  }
  const packet = reader.read(bytes);
  const properties = packet?.cmd === "connect" ? packet.properties : undefined;
  if (packet?.cmd !== "connect" || properties?.receiveMaximum === 0 || properties?.maximumPacketSize === 0) {
    return { version, error: undefined, reason: "protocol" };
  }
  if (properties?.authenticationMethod === undefined) return { version, packet };
  return { version, error: "bad_authentication_method", reason: "protocol" };
}

/** The protocol version that a CONNECT packet asks for; undefined if it is no MQTT at all. */
function requestedVersion(connect: Buffer): number | undefined {
  let at = 1;
  while ((connect[at] ?? 0) >= 128) at++;
  const nameLength = connect.length >= at + 3 ? connect.readUInt16BE(at + 1) : 0;
  const name = connect.toString("latin1", at + 3, at + 3 + nameLength);
  // Bridges set the highest bit.
  return name === "MQTT" || name === "MQIsdp" ? (connect[at + 3 + nameLength] ?? 0) & 127 : undefined;
}

/** MQTT 3.1.1 has none of these properties; they are not sent there. */
export function acceptedConnack(limits: ConnectionLimits, assignedClientId: string | undefined): IConnackPacket {
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
      ...(assignedClientId !== undefined && { assignedClientIdentifier: assignedClientId }),
    },
  };
}

export const refusedConnack = (error: ConnectError): IConnackPacket => ({
  cmd: "connack",
  sessionPresent: false,
  ...connackCodes(error),
});

type ConnackCodes = { readonly returnCode: number; readonly reasonCode: number };

/** MQTT 3.1.1 has five return codes: 1 protocol version, 3 unavailable, 4 bad user name or password, 5 not authorized. */
function connackCodes(error: ConnectError): ConnackCodes {
  switch (error) {
    case "protocol_version":
      return { returnCode: 1, reasonCode: ReasonCode.unsupportedProtocolVersion };
    case "key_missing":
    case "key_invalid":
      return { returnCode: 4, reasonCode: ReasonCode.badUserNameOrPassword };
    case "key_expired":
    case "key_revoked":
    case "role_insufficient":
      return { returnCode: 5, reasonCode: ReasonCode.notAuthorized };
    case "bad_authentication_method":
      return { returnCode: 5, reasonCode: ReasonCode.badAuthenticationMethod };
    case "too_many":
      return { returnCode: 3, reasonCode: ReasonCode.quotaExceeded };
    case "rate_limited":
    case "keys_throttled":
      return { returnCode: 3, reasonCode: ReasonCode.connectionRateExceeded };
    default:
      return { returnCode: 3, reasonCode: ReasonCode.serverUnavailable };
  }
}

/**
 * ChirpStack subscribes to the commands for its devices and gives up the connection if it may not. There are never any commands,
 * so this subscription is granted; all others are refused.
 */
const CHIRPSTACK_COMMANDS = /^(\$share\/[^/]+\/)?application\/[^/]+\/device\/[^/]+\/command\/[^/]+$/;

/** The reply to a packet other than CONNECT, PUBLISH and DISCONNECT; a reason code if it is not acceptable. */
export function replyToControl(packet: Packet | undefined, version: MqttVersion, unreleased: Set<number>): Packet | number {
  if (packet?.cmd === "pingreq") return { cmd: "pingresp" };
  if (packet?.cmd === "connect") return ReasonCode.protocolError;
  const messageId = packet?.messageId ?? 0;
  if (packet === undefined || messageId <= 0) return ReasonCode.malformedPacket;
  if (packet.cmd === "pubrel") {
    const isKnown = unreleased.delete(messageId);
    return { cmd: "pubcomp", messageId, reasonCode: isKnown ? ReasonCode.success : ReasonCode.packetIdentifierNotFound };
  }
  if (packet.cmd === "subscribe" && packet.subscriptions.length > 0) {
    const refused = version === 5 ? ReasonCode.notAuthorized : 0x80;
    const granted = packet.subscriptions.map(({ topic }) => (CHIRPSTACK_COMMANDS.test(topic) ? 0 : refused));
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

const MAX_REASON_LENGTH = 256;

/** The Reason String of an acknowledgement, if the client accepts packets that large. */
export function reasonProperties(
  reason: string | undefined,
  maxBytes: number,
): { readonly properties?: { readonly reasonString: string } } {
  const reasonString = reason?.slice(0, MAX_REASON_LENGTH).toWellFormed().replaceAll("\0", "");
  return reasonString === undefined || Buffer.byteLength(reasonString) + 16 > maxBytes ? {} : { properties: { reasonString } };
}
