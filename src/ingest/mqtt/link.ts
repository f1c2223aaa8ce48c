// One connection to the external broker, from its beginning to its end. Messages of QoS 1 are acknowledged when we say so,
// while others go on arriving.

import mqtt, { type IClientOptions, type IConnackPacket, type IPublishPacket, type MqttClient } from "mqtt";
import { TOPIC_FILTERS } from "../decode/message.ts";
import type { BrokerAddress } from "./address.ts";

/** As whom the broker knows us. Where that is the same after a restart, it keeps for us what was not acknowledged. */
export type Identity = { readonly clientId: string; readonly isLasting: boolean };

export type LinkSettings = {
  readonly address: BrokerAddress;
  readonly identity: Identity;
  /** Messages that the broker may send before the first of them is acknowledged. */
  readonly receiveMaximum: number;
  readonly messageBytes: number;
};

export type LinkWatcher = {
  /** Gives a promise where no more can be taken until it resolves. */
  readonly take: (topic: string, bytes: Buffer, acknowledge: () => void) => Promise<void> | undefined;
  readonly up: (notGranted: readonly string[]) => void;
};

const GROUP = "tank-monitor";
const CONNECT_MS = 10_000;
const CLOSE_MS = 1000;
const KEEP_ALIVE_SECONDS = 30;
/** The broker keeps what we have not acknowledged, and what arrives for us, for this long after we are gone. */
const SESSION_SECONDS = 86_400;
/** For mqtt.js, an error here says no more than that it is not to acknowledge the message itself. */
const LATER = new Error("acknowledged later");

export class Link {
  /** Why it ended. */
  readonly ended: Promise<string>;
  readonly #client: MqttClient;
  readonly #watcher: LinkWatcher;
  readonly #address: BrokerAddress;
  #isAnswered = false;
  #reason: string | undefined;

  constructor(settings: LinkSettings, watcher: LinkWatcher) {
    this.#watcher = watcher;
    this.#address = settings.address;
    const client = mqtt.connect({ ...optionsOf(settings), manualConnect: true });
    this.#client = client;
    client.handleMessage = (packet, done) => this.#receive(packet, done);
    client.on("connect", (packet) => void this.#subscribe(packet));
    client.on("error", (error) => this.#end(error.message || String("code" in error ? error.code : error)));
    client.on("disconnect", ({ reasonCode }) => this.#end(`the broker ended the connection, with reason ${reasonCode ?? 0}`));
    this.ended = new Promise((resolve) => {
      client.once("close", () => {
        client.end(true);
        resolve(this.#explained());
      });
    });
    client.connect();
  }

  /** The session stays: what is not acknowledged comes again. */
  async close(reason = "closed"): Promise<void> {
    this.#end(reason);
    const impatient = setTimeout(() => this.#client.stream.destroy(), CLOSE_MS);
    if (this.#client.connected) this.#client.end();
    else this.#client.end(true);
    await this.ended;
    clearTimeout(impatient);
  }

  /** The first reason is the one that explains the others. */
  #end(reason: string): void {
    this.#reason ??= reason;
  }

  /** A broker of another version says so, or says nothing. */
  #explained(): string {
    const reason = this.#reason ?? (this.#isAnswered ? "the connection broke" : "the broker did not answer");
    const isMqtt5 = this.#address.version === 5;
    const isOfVersion = isMqtt5 && !this.#isAnswered && (this.#reason === undefined || /protocol version/i.test(reason));
    return isOfVersion ? `${reason}; if it speaks MQTT 3.1.1 only, add ?protocol=3.1.1 to MQTT_URL` : reason;
  }

  async #subscribe(packet: IConnackPacket): Promise<void> {
    this.#isAnswered = true;
    const isShared = this.#address.isShared && packet.properties?.sharedSubscriptionAvailable !== false;
    const subscribe = (filter: string) =>
      this.#client.subscribeAsync(isShared ? `$share/${GROUP}/${filter}` : filter, { qos: 1 });
    const answers = await Promise.allSettled(TOPIC_FILTERS.map(subscribe));
    if (!this.#client.connected) return;
    const notGranted = TOPIC_FILTERS.filter((_filter, i) => answers[i]?.status === "rejected");
    if (notGranted.length < TOPIC_FILTERS.length) {
      this.#watcher.up(notGranted);
      return;
    }
    this.#end("the broker lets us subscribe to none of our topics");
    this.#client.end();
  }

  #receive({ topic, payload, qos, messageId }: IPublishPacket, done: (error?: Error) => void): void {
    const isOurs = qos === 1;
    const acknowledge = isOurs ? () => this.#acknowledge(messageId) : () => {};
    const go = (): void => done(isOurs ? LATER : undefined);
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
    const room = this.#watcher.take(topic, bytes, acknowledge);
    if (room === undefined) go();
    else void room.then(go);
  }

  /** On this connection or on none: after another has begun, its number may be that of another message. */
  #acknowledge(messageId: number | undefined): void {
    if (this.#client.connected) this.#client["_sendPacket"]({ cmd: "puback", messageId, reasonCode: 0 });
  }
}

function optionsOf({ address, identity, receiveMaximum, messageBytes }: LinkSettings): IClientOptions {
  const { protocol, host, port, username, password, version } = address;
  const kept = identity.isLasting ? SESSION_SECONDS : 0;
  return {
    protocol,
    host,
    port,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    clientId: identity.clientId,
    protocolVersion: version,
    clean: !identity.isLasting,
    keepalive: KEEP_ALIVE_SECONDS,
    connectTimeout: CONNECT_MS,
    reconnectPeriod: 0,
    resubscribe: false,
    ...(version === 5 ? { properties: { sessionExpiryInterval: kept, receiveMaximum, maximumPacketSize: messageBytes } } : {}),
  };
}
