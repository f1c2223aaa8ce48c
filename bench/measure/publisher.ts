// One MQTT client that only publishes, with QoS 1, on a plain socket: its packets are created before the clock starts, and it
// receives nothing but acknowledgements of four bytes. A client library would take longer than the endpoint.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { generate } from "mqtt-packet";

export type Message = { readonly topic: string; readonly payload: string };

const CONNACK = 0x20;
const PUBACK = 0x40;
const PUBACK_BYTES = 4;
const LAST_ID = 65_535;
const EMPTY: Buffer = Buffer.alloc(0);

export class Publisher implements Disposable {
  readonly #socket: Socket;
  readonly #finished = Promise.withResolvers<void>();
  /** The packets, one after the other, and where each ends. */
  readonly #packets: Buffer;
  readonly #ends: readonly number[];
  readonly #maxInFlight: number;
  /** Messages that may be sent by now. */
  #due = 0;
  #sent = 0;
  #acknowledged = 0;
  #received = EMPTY;

  private constructor(socket: Socket, messages: readonly Message[], maxInFlight: number) {
    this.#socket = socket;
    this.#maxInFlight = maxInFlight;
    const packets = messages.map(({ topic, payload }, i) =>
      generate({ cmd: "publish", topic, payload, qos: 1, messageId: idOf(i), dup: false, retain: false }),
    );
    let end = 0;
    this.#ends = packets.map(({ length }) => (end += length));
    this.#packets = Buffer.concat(packets);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", (error) => this.#finished.reject(error));
    socket.on("close", () => this.#finished.reject(new Error("the endpoint has closed the connection")));
    this.#finished.promise.catch(() => {});
    if (messages.length === 0) this.#finished.resolve();
  }

  /** Logs in. `maxInFlight` limits the unacknowledged messages. */
  static async open(url: string, key: string, messages: readonly Message[], maxInFlight: number): Promise<Publisher> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    await once(socket, "connect");
    const who = { clientId: "", username: "bench", password: Buffer.from(key) };
    socket.write(generate({ cmd: "connect", protocolId: "MQTT", protocolVersion: 4, clean: true, keepalive: 0, ...who }));
    const [packet] = (await once(socket, "data")) as [Buffer];
    if (packet[0] !== CONNACK || packet[3] !== 0) throw new Error(`connection rejected: ${packet.toString("hex")}`);
    return new Publisher(socket, messages, maxInFlight);
  }

  /** Permits `count` more messages to be sent. */
  release(count: number): void {
    this.#due = Math.min(this.#due + count, this.#ends.length);
    this.#send();
  }

  /** Resolves when every message is acknowledged. */
  finished(): Promise<void> {
    return this.#finished.promise;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #send(): void {
    const until = Math.min(this.#due, this.#acknowledged + this.#maxInFlight);
    if (until <= this.#sent) return;
    this.#socket.write(this.#packets.subarray(this.#ends[this.#sent - 1] ?? 0, this.#ends[until - 1]));
    this.#sent = until;
  }

  #receive(chunk: Buffer): void {
    const bytes = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    let at = 0;
    for (; at + PUBACK_BYTES <= bytes.length; at += PUBACK_BYTES) {
      if (bytes[at] !== PUBACK || bytes.readUInt16BE(at + 2) !== idOf(this.#acknowledged)) {
        this.#finished.reject(new Error(`${bytes.toString("hex", at, at + PUBACK_BYTES)} is not the next acknowledgement`));
        return;
      }
      this.#acknowledged++;
    }
    this.#received = bytes.subarray(at);
    if (this.#acknowledged === this.#ends.length) this.#finished.resolve();
    else this.#send();
  }
}

const idOf = (message: number): number => (message % LAST_ID) + 1;
