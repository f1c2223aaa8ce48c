// A client's connection, between the socket and the broker. It looks at the first bytes of every packet, and no further:
// what is too large is refused before it is read, and no more messages are let in than can be dealt with. What is not let in
// stays in the socket, and in the end with its sender.

import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { MqttDrop } from "../../domain/events.ts";
import type { Budget } from "./budget.ts";
import { Drop } from "./drop.ts";

export type WireBounds = {
  /** Of a PUBLISH packet, and of any other. */
  readonly publishBytes: number;
  readonly otherBytes: number;
  /** Messages of one client that are not yet settled. */
  readonly underWay: number;
  /** For one packet to arrive. */
  readonly packetMs: number;
};

/** What a message takes besides its bytes, roughly. */
const MESSAGE_COST = 512;
const CONNECT = 1;
const PUBLISH = 3;
const FLUSH_MS = 1000;
const ALIVE_MS = 60_000;
const EMPTY: Buffer = Buffer.alloc(0);

export class Wire {
  readonly stream: Duplex;
  readonly address: string;
  readonly #socket: Socket;
  readonly #bounds: WireBounds;
  readonly #budget: Budget;
  /** Costs of messages that were let in, until the broker hands them over. */
  readonly #unclaimed: number[] = [];
  #underWay = 0;
  /** What has come and was not yet passed on. */
  #rest = EMPTY;
  /** Bytes of the present packet that are still to be passed on. */
  #left = 0;
  #since = 0;
  /** Only the first packet passes before the client has logged in. */
  #isFirst = true;
  #isOpen = false;
  #isWanted = false;
  #isHeld = false;
  #isEnded = false;
  #isWaking = false;

  constructor(socket: Socket, bounds: WireBounds, budget: Budget) {
    this.address = socket.remoteAddress ?? "";
    this.#socket = socket;
    this.#bounds = bounds;
    this.#budget = budget;
    this.stream = new Duplex({
      read: () => {
        this.#isWanted = true;
        this.#pass();
      },
      write: (chunk, _encoding, done) => this.#write(chunk, done),
      writev: (chunks, done) => this.#write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done),
      final: (done) => socket.end(done),
      destroy: (error, done) => {
        this.#close(error !== null);
        done(error);
      },
    });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, ALIVE_MS);
    socket.on("data", (chunk: Buffer) => {
      this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
      this.#pass();
    });
    socket.on("end", () => {
      this.#isEnded = true;
      this.#pass();
    });
    // A connection that breaks is one that closes: there is nobody left to tell.
    socket.on("error", () => {});
    socket.on("close", () => this.stream.destroy());
    socket.pause();
  }

  get isClosed(): boolean {
    return this.stream.destroyed;
  }

  /** The client has logged in: everything may pass. */
  open(): void {
    this.#isOpen = true;
    this.#wake();
  }

  /** Nothing more is let in. */
  shut(): void {
    this.#isOpen = false;
  }

  /** The message that the broker hands over is the oldest that was let in. What it costs is given back with `release`. */
  claim(): number {
    return this.#unclaimed.shift() ?? 0;
  }

  release(cost: number): void {
    this.#underWay--;
    this.#budget.give(cost);
    if (this.#isHeld) this.#wake();
  }

  /** A packet that takes too long to arrive: its sender is slow, or wants us to wait. */
  isStuck(now: number): boolean {
    return this.#left > 0 && !this.#socket.isPaused() && now - this.#since > this.#bounds.packetMs;
  }

  /** Once for all messages that are settled in one go. */
  readonly #wake = (): void => {
    if (this.#isWaking) return;
    this.#isWaking = true;
    queueMicrotask(() => {
      this.#isWaking = false;
      this.#pass();
    });
  };

  #pass(): void {
    if (this.isClosed) return;
    const end = this.#passable();
    if (end > 0) {
      const bytes = this.#rest.subarray(0, end);
      this.#rest = end === this.#rest.length ? EMPTY : this.#rest.subarray(end);
      this.#isWanted = this.stream.push(bytes);
    }
    if (this.#isEnded) {
      if (!this.#isHeld) this.stream.push(null);
    } else if (this.#isHeld || !this.#isWanted) this.#socket.pause();
    else this.#flow();
  }

  /** While we did not read, the sender could not be slow. */
  #flow(): void {
    if (this.#socket.isPaused()) this.#since = performance.now();
    this.#socket.resume();
  }

  /** How many of the bytes that are here may be passed on. */
  #passable(): number {
    this.#isHeld = false;
    for (let at = 0; ; ) {
      const step = Math.min(this.#left, this.#rest.length - at);
      at += step;
      this.#left -= step;
      const head = headOf(this.#rest, at);
      if (this.#left > 0 || head === undefined) return at;
      const fault = this.#faultIn(head);
      if (fault !== undefined) {
        this.stream.destroy(new Drop(fault));
        return 0;
      }
      if (!this.#isLetIn(head)) {
        this.#isHeld = true;
        return at;
      }
      this.#left = head.size;
      this.#since = performance.now();
    }
  }

  #faultIn({ type, size }: Head): MqttDrop | undefined {
    if (this.#isFirst && type !== CONNECT) return "protocol";
    return size > (type === PUBLISH ? this.#bounds.publishBytes : this.#bounds.otherBytes) ? "packet_too_large" : undefined;
  }

  #isLetIn({ type, size }: Head): boolean {
    if (!this.#isOpen && !this.#isFirst) return false;
    this.#isFirst = false;
    if (type !== PUBLISH) return true;
    const cost = size + MESSAGE_COST;
    if (this.#underWay >= this.#bounds.underWay || !this.#budget.take(cost, this.#wake)) return false;
    this.#underWay++;
    this.#unclaimed.push(cost);
    return true;
  }

  #write(bytes: Buffer, done: () => void): void {
    if (this.#socket.write(bytes)) done();
    else this.#socket.once("drain", done);
  }

  /** What was written goes out, where nothing is wrong. Messages that were claimed stay under way until they are settled. */
  #close(isFault: boolean): void {
    this.#budget.forget(this.#wake);
    for (const cost of this.#unclaimed.splice(0)) this.#budget.give(cost);
    this.#rest = EMPTY;
    if (isFault) {
      this.#socket.destroy();
      return;
    }
    const impatient = setTimeout(() => this.#socket.destroy(), FLUSH_MS);
    this.#socket.on("close", () => clearTimeout(impatient));
    this.#socket.destroySoon();
  }
}

type Head = { readonly type: number; readonly size: number };

/** Of the packet that begins there; undefined where too little of it has come. */
function headOf(bytes: Buffer, at: number): Head | undefined {
  const type = (bytes[at] ?? 0) >> 4;
  let length = 0;
  for (let i = 0; i < 4; i++) {
    const byte = bytes[at + 1 + i];
    if (byte === undefined) return undefined;
    length += (byte & 127) * 128 ** i;
    if (byte < 128) return { type, size: 2 + i + length };
  }
  return { type, size: Number.POSITIVE_INFINITY };
}
