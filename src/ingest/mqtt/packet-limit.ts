// The connection to a broker, without packets above a limit. The parser would buffer a packet of up to 256 MiB. Here a PUBLISH that
// is too large is reported by its beginning, and the rest of it is discarded as it arrives.

import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { EMPTY_BUFFER, fixedHeader, PacketType } from "./protocol.ts";

type OversizedPublish = { readonly topic: string; readonly qos: number; readonly messageId: number };

const PINGRESP: Buffer = Buffer.from([0xd0, 0]);
const LENGTH_BYTES = 2;

/** The stream fails where the broker sends any other packet that is too large. */
export function limitPackets(socket: Socket, maxBytes: number, onOversized: (publish: OversizedPublish) => void): Duplex {
  const limit = new PacketLimit(maxBytes, onOversized);
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write: (bytes, encoding, done) => void socket.write(bytes, encoding, done),
    final(done) {
      socket.end();
      done();
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk: Buffer) => {
    let mayContinue = true;
    const isAcceptable = limit.filter(chunk, (bytes) => {
      mayContinue = stream.push(bytes);
    });
    if (!isAcceptable) stream.destroy(new Error("the broker sent a packet that is too large"));
    else if (!mayContinue) socket.pause();
  });
  socket.on("error", (error) => stream.destroy(error));
  socket.on("close", () => stream.push(null));
  return stream;
}

class PacketLimit {
  readonly #maxBytes: number;
  readonly #onOversized: (publish: OversizedPublish) => void;
  /** The beginning of a packet of which more must be known. */
  #pending = EMPTY_BUFFER;
  /** Bytes of the current packet that have not arrived, and whether they are discarded. */
  #remaining = 0;
  #isDiscarded = false;

  constructor(maxBytes: number, onOversized: (publish: OversizedPublish) => void) {
    this.#maxBytes = maxBytes;
    this.#onOversized = onOversized;
  }

  /** Passes on what is not discarded; false where the packets are not acceptable. */
  filter(chunk: Buffer, pass: (bytes: Buffer) => void): boolean {
    const bytes = this.#pending.length > 0 ? Buffer.concat([this.#pending, chunk]) : chunk;
    let passedFrom = 0;
    let at = 0;
    while (at < bytes.length) {
      const isBegun = this.#remaining > 0 || this.#begin(bytes, at);
      if (isBegun === "unacceptable") return false;
      if (!isBegun) break;
      const end = Math.min(at + this.#remaining, bytes.length);
      if (this.#isDiscarded) {
        pass(bytes.subarray(passedFrom, at));
        // The client learns that the connection is alive, however long the rest takes.
        pass(PINGRESP);
        passedFrom = end;
      }
      this.#remaining -= end - at;
      at = end;
    }
    pass(bytes.subarray(passedFrom, at));
    this.#pending = bytes.subarray(at);
    return true;
  }

  /** Whether enough is known of the packet that begins at `start`. */
  #begin(bytes: Buffer, start: number): boolean | "unacceptable" {
    const header = fixedHeader(bytes, start, bytes.length);
    if (header === undefined) return false;
    const { type, qos, size, headerSize } = header;
    this.#isDiscarded = size > this.#maxBytes;
    if (this.#isDiscarded) {
      if (type !== PacketType.publish || qos > 1 || size === Number.POSITIVE_INFINITY) return "unacceptable";
      const topicAt = start + headerSize + LENGTH_BYTES;
      if (topicAt > bytes.length) return false;
      const topicEnd = topicAt + bytes.readUInt16BE(topicAt - LENGTH_BYTES);
      if (topicEnd + LENGTH_BYTES > bytes.length) return false;
      this.#onOversized({ topic: bytes.toString("utf8", topicAt, topicEnd), qos, messageId: bytes.readUInt16BE(topicEnd) });
    }
    this.#remaining = size;
    return true;
  }
}
