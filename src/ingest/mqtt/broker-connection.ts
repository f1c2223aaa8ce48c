// One connection to an external broker: its address, the subscription, and acknowledgements that are sent when a message is stored.

import mqtt, { type IClientOptions, type IConnackPacket, type IPublishPacket, type MqttClient } from "mqtt";
import { UserError } from "../../domain/errors.ts";
import { TOPIC_FILTERS } from "../decode/message.ts";
import { encode, type MqttVersion, ReasonCode } from "./protocol.ts";

export type BrokerAddress = {
  readonly protocol: "mqtt" | "mqtts";
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** 4 is MQTT 3.1.1. */
  readonly version: MqttVersion;
  /** Whether several processes share the messages; otherwise each gets all of them. */
  readonly isShared: boolean;
};

const DEFAULT_PORTS = { mqtt: 1883, mqtts: 8883 } as const;
const VERSIONS: Readonly<Record<string, MqttVersion>> = { "3.1.1": 4, "5": 5 };

/** Parses `MQTT_URL`. It may contain a password, so no message repeats it. */
export function parseBrokerUrl(text: string): BrokerAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const protocol = url?.protocol === "mqtt:" ? "mqtt" : url?.protocol === "mqtts:" ? "mqtts" : undefined;
  if (url === undefined || protocol === undefined || url.hostname === "") {
    throw new UserError("MQTT_URL must be mqtt://HOST or mqtts://HOST, with USER:PASSWORD@ if the broker requires it", 2);
  }
  const { protocol: requested = "5", shared = "yes", ...rest } = Object.fromEntries(url.searchParams);
  const version = VERSIONS[requested];
  const isValid = ["yes", "no"].includes(shared) && Object.keys(rest).length === 0 && ["", "/"].includes(url.pathname);
  if (version === undefined || !isValid) {
    throw new UserError("MQTT_URL may end with ?protocol=3.1.1 or ?shared=no, and with nothing else", 2);
  }
  return {
    protocol,
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? DEFAULT_PORTS[protocol] : Number(url.port),
    username: decodePart(url.username),
    password: decodePart(url.password),
    version,
    // MQTT 3.1.1 has no shared subscriptions.
    isShared: shared === "yes" && version === 5,
  };
}

function decodePart(part: string): string | undefined {
  try {
    return part === "" ? undefined : decodeURIComponent(part);
  } catch {
    throw new UserError("MQTT_URL has an invalid % sequence in its user or password; write % itself as %25", 2);
  }
}

/** Without user and password. */
export const formatBrokerAddress = ({ host, port }: BrokerAddress): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

/** With a persistent client id the broker keeps, across restarts, what was not acknowledged. */
export type BrokerIdentity = { readonly clientId: string; readonly isPersistent: boolean };

export type BrokerConnectionOptions = {
  readonly address: BrokerAddress;
  readonly identity: BrokerIdentity;
  /** Messages that the broker may send before the first of them is acknowledged. */
  readonly receiveMaximum: number;
  readonly messageBytes: number;
  readonly onConnected: (notGranted: readonly string[]) => void;
  /** Returns a promise if no further message can be accepted until it resolves. */
  readonly onMessage: (topic: string, bytes: Buffer, acknowledge: () => void) => Promise<void> | undefined;
};

const SHARE_GROUP = "tank-monitor";
const CONNECT_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 1000;
const KEEP_ALIVE_SECONDS = 30;
/** For this long the broker keeps our messages while we are disconnected. */
const SESSION_SECONDS = 86_400;
/** mqtt.js acknowledges a message when it was handled, unless handling failed: this makes it leave the acknowledgement to us. */
const ACKNOWLEDGED_LATER = new Error("acknowledged later");

export class BrokerConnection {
  /** Resolves with the reason. */
  readonly ended: Promise<string>;
  readonly #client: MqttClient;
  readonly #options: BrokerConnectionOptions;
  #isAccepted = false;
  #reason: string | undefined;

  constructor(options: BrokerConnectionOptions) {
    this.#options = options;
    const client = mqtt.connect({ ...clientOptions(options), manualConnect: true });
    this.#client = client;
    client.handleMessage = (packet, done) => this.#receive(packet, done);
    client.on("connect", (packet) => void this.#subscribe(packet));
    client.on("error", (error) => this.#note(error.message || String("code" in error ? error.code : error)));
    client.on("disconnect", ({ reasonCode }) =>
      this.#note(`the broker closed the connection with reason code ${reasonCode ?? 0}`),
    );
    this.ended = new Promise((resolve) => {
      client.once("close", () => {
        client.end(true);
        resolve(this.#describeEnd());
      });
    });
    client.connect();
  }

  /** The session stays: the broker sends again what was not acknowledged. */
  async close(reason = "closed"): Promise<void> {
    this.#note(reason);
    const timer = setTimeout(() => this.#client.stream.destroy(), CLOSE_TIMEOUT_MS);
    this.#client.end(!this.#client.connected);
    await this.ended;
    clearTimeout(timer);
  }

  /** The first reason explains those that follow. */
  #note(reason: string): void {
    this.#reason ??= reason;
  }

  #describeEnd(): string {
    const reason = this.#reason ?? (this.#isAccepted ? "the connection was lost" : "the broker did not answer");
    const isMqtt5 = this.#options.address.version === 5;
    const isVersion = isMqtt5 && !this.#isAccepted && (this.#reason === undefined || /protocol version/i.test(reason));
    return isVersion ? `${reason}; if it supports MQTT 3.1.1 only, add ?protocol=3.1.1 to MQTT_URL` : reason;
  }

  async #subscribe({ properties }: IConnackPacket): Promise<void> {
    this.#isAccepted = true;
    const isShared = this.#options.address.isShared && properties?.sharedSubscriptionAvailable !== false;
    const prefix = isShared ? `$share/${SHARE_GROUP}/` : "";
    const results = await Promise.allSettled(
      TOPIC_FILTERS.map((filter) => this.#client.subscribeAsync(`${prefix}${filter}`, { qos: 1 })),
    );
    if (!this.#client.connected) return;
    const notGranted = TOPIC_FILTERS.filter((_filter, i) => results[i]?.status === "rejected");
    if (notGranted.length < TOPIC_FILTERS.length) {
      this.#options.onConnected(notGranted);
      return;
    }
    this.#note("the broker grants none of our subscriptions");
    this.#client.end();
  }

  #receive({ topic, payload, qos, messageId }: IPublishPacket, done: (error?: Error) => void): void {
    const acknowledge = qos === 1 ? () => this.#acknowledge(messageId) : () => {};
    const next = (): void => done(qos === 1 ? ACKNOWLEDGED_LATER : undefined);
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
    const accepted = this.#options.onMessage(topic, bytes, acknowledge);
    if (accepted === undefined) next();
    else void accepted.then(next);
  }

  /** On this connection only: on another the same id may belong to another message. */
  #acknowledge(messageId: number | undefined): void {
    if (!this.#client.connected) return;
    const puback = { cmd: "puback", messageId, reasonCode: ReasonCode.success } as const;
    this.#client.stream.write(encode(puback, this.#options.address.version));
  }
}

function clientOptions({ address, identity, receiveMaximum, messageBytes }: BrokerConnectionOptions): IClientOptions {
  const { protocol, host, port, username, password, version } = address;
  const sessionExpiryInterval = identity.isPersistent ? SESSION_SECONDS : 0;
  return {
    protocol,
    host,
    port,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    clientId: identity.clientId,
    protocolVersion: version,
    clean: !identity.isPersistent,
    keepalive: KEEP_ALIVE_SECONDS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectPeriod: 0,
    resubscribe: false,
    ...(version === 5 ? { properties: { sessionExpiryInterval, receiveMaximum, maximumPacketSize: messageBytes } } : {}),
  };
}
