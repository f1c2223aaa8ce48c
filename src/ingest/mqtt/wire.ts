// A client's connection, between the socket and the broker. It looks at the first bytes of every packet, and no further:
// what is too large is refused before it is read, and no more messages are let in than can be dealt with. What is not let in
// stays in the socket, and in the end with its sender.

import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { MqttDisconnectReason } from "../../domain/events.ts";
import type { Budget } from "./budget.ts";
import { Chatter } from "./chatter.ts";
import { Drop } from "./drop.ts";
import { CONNECT, type Head, headOf, PUBLISH } from "./head.ts";
import { type TakeTurn, Turns } from "./turns.ts";

export type WireBounds = {
  /** Of a PUBLISH packet, and of any other. */
  readonly publishBytes: number;
  readonly otherBytes: number;
  /** Messages of one client that are not yet settled. */
  readonly underWay: number;
  /** Packets of one client a second that are no messages. */
  readonly chatter: number;
  /** For one packet to arrive, not counting the time that we did not read. */
  readonly packetMs: number;
  /** For a client to say anything at all, where it has set no keep-alive. */
  readonly silentMs: number;
};

/** What a client may use after it has logged in. */
export type Allowance = { readonly budget: Budget; readonly turn: TakeTurn };

/** What a message takes besides its bytes, roughly. */
const MESSAGE_COST = 512;
const FLUSH_MS = 1000;
const ALIVE_MS = 60_000;
const EMPTY: Buffer = Buffer.alloc(0);

export class Wire {
  readonly stream: Duplex;
  readonly address: string;
  readonly #socket: Socket;
  readonly #bounds: WireBounds;
  readonly #chatter: Chatter;
  #budget: Budget | undefined;
  #turns: Turns | undefined;
  /** Costs of messages that were let in, until the broker hands them over. That of the last grows as its bytes come. */
  readonly #unclaimed: number[] = [];
  #underWay = 0;
  /** What has come and was not yet passed on. */
  #rest = EMPTY;
  /** Bytes of the present packet that are still to be passed on. */
  #left = 0;
  #isMessage = false;
  /** When the present packet began, later by as long as we did not read. */
  #since = 0;
  #pausedAt = 0;
  #heardAt = performance.now();
  /** Only the first packet passes before the client has logged in. */
  #isFirst = true;
  #isOpen = false;
  #isWanted = false;
  #isHeld = false;
  #isEnded = false;
  #isWaking = false;

  constructor(socket: Socket, bounds: WireBounds) {
    this.address = socket.remoteAddress ?? "";
    this.#socket = socket;
    this.#bounds = bounds;
    this.#chatter = new Chatter(bounds.chatter, this.#wake);
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
      this.#heardAt = performance.now();
      this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
      this.#pass();
    });
    socket.on("end", () => {
      this.#isEnded = true;
      this.#pass();
    });
    // A connection that breaks is one that closes: there is nobody left to tell.
    socket.on("error", () => {});
    // What came before a sender's end may still have to wait.
    socket.on("close", () => {
      if (!this.#isEnded) this.stream.destroy();
    });
    socket.pause();
  }

  get isClosed(): boolean {
    return this.stream.destroyed;
  }

  /** The client has logged in: everything may pass. */
  open({ budget, turn }: Allowance): void {
    this.#budget = budget;
    this.#turns = new Turns(turn, this.#wake);
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
    this.#budget?.give(cost);
    if (this.#isHeld) this.#wake();
  }

  /** A packet that takes too long to arrive: its sender is slow, or wants us to wait. Or nothing comes at all, for very long. */
  isStuck(now: number): boolean {
    if (this.#socket.isPaused()) return false;
    return (this.#left > 0 && now - this.#since > this.#bounds.packetMs) || now - this.#heardAt > this.#bounds.silentMs;
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
    } else if (this.#isHeld || !this.#isWanted) this.#halt();
    else this.#flow();
  }

  #halt(): void {
    if (this.#socket.isPaused()) return;
    this.#pausedAt = performance.now();
    this.#socket.pause();
  }

  /** While we did not read, the sender could not be slow. */
  #flow(): void {
    if (!this.#socket.isPaused()) return;
    const paused = performance.now() - this.#pausedAt;
    this.#since += paused;
    this.#heardAt += paused;
    this.#socket.resume();
  }

  /** How many of the bytes that are here may be passed on. */
  #passable(): number {
    this.#isHeld = !this.#isRestLetIn();
    if (this.#isHeld) return 0;
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
      if (!this.#isLetIn(head, this.#rest.length - at)) {
        this.#isHeld = true;
        return at;
      }
      this.#left = head.size;
      this.#isMessage = head.type === PUBLISH;
      this.#since = performance.now();
    }
  }

  #faultIn({ type, size }: Head): MqttDisconnectReason | undefined {
    if (this.#isFirst && type !== CONNECT) return "protocol";
    return size > (type === PUBLISH ? this.#bounds.publishBytes : this.#bounds.otherBytes) ? "packet_too_large" : undefined;
  }

  #isLetIn(head: Head, here: number): boolean {
    if (this.#isFirst) {
      this.#isFirst = false;
      return true;
    }
    if (!this.#isOpen) return false;
    return head.type === PUBLISH ? this.#isMessageLetIn(head, here) : this.#chatter.isLetIn(head.type);
  }

  /** What was announced costs nothing yet: of its bytes, those that are here. */
  #isMessageLetIn({ size, isQos2 }: Head, here: number): boolean {
    const cost = Math.min(size, here) + MESSAGE_COST;
    if (this.#underWay >= this.#bounds.underWay || this.#turns?.isTaken() !== true) return false;
    if (this.#budget?.take(cost, this.#wake) !== true) return false;
    this.#turns.use();
    if (isQos2) this.#chatter.expectRelease();
    this.#underWay++;
    this.#unclaimed.push(cost);
    return true;
  }

  /** More of a message of which a part was let in. */
  #isRestLetIn(): boolean {
    const bytes = this.#isMessage ? Math.min(this.#left, this.#rest.length) : 0;
    if (bytes === 0) return true;
    if (this.#budget?.take(bytes, this.#wake, true) !== true) return false;
    this.#unclaimed.push((this.#unclaimed.pop() ?? 0) + bytes);
    if (bytes === this.#left) this.#budget.complete(this.#wake);
    return true;
  }

  #write(bytes: Buffer, done: () => void): void {
    if (this.#socket.write(bytes)) done();
    else this.#socket.once("drain", done);
  }

  /** What was written goes out, where nothing is wrong. Messages that were claimed stay under way until they are settled. */
  #close(isFault: boolean): void {
    this.#chatter.stop();
    this.#turns?.stop();
    this.#budget?.forget(this.#wake);
    for (const cost of this.#unclaimed.splice(0)) this.#budget?.give(cost);
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
