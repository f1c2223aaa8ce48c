// The bytes of a body, bounded, and the text they are. What is left of a body that is refused is read and dropped: a sender
// who is still sending would not hear the answer otherwise.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { createGunzip } from "node:zlib";
import { RequestError } from "../domain/errors.ts";
import type { Share } from "./room.ts";

export function bytesOf(raw: IncomingMessage, maxBytes: number, share: Share): Promise<Held> {
  const { promise, resolve, reject } = Promise.withResolvers<Held>();
  const held = new Held(maxBytes);
  let size = 0;
  raw.on("data", (chunk: Buffer) => {
    size += chunk.length;
    try {
      if (size > maxBytes) throw tooLarge(`A body here may have at most ${maxBytes} bytes.`);
      share.take(chunk.length);
      held.add(chunk);
    } catch (error) {
      held.handOver();
      // What still comes is dropped.
      size = Number.POSITIVE_INFINITY;
      reject(error);
    }
  });
  raw.on("end", () => resolve(held));
  raw.on("error", (cause) => reject(cutShort(cause)));
  return promise;
}

/**
 * Bytes that come bit by bit. They are copied together, since each bit by itself would take some hundred bytes more, and are
 * handed over once, since a request lives on while its answer is made.
 */
class Held {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(0);
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (size > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#maxBytes, Math.max(size, 2 * this.#bytes.length)));
      this.#bytes.copy(larger, 0, 0, this.#size);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.#size);
    this.#size = size;
  }

  handOver(): Buffer {
    const whole = this.#bytes.subarray(0, this.#size);
    this.#bytes = Buffer.alloc(0);
    this.#size = 0;
    return whole;
  }
}

export function cutShort(cause: unknown): RequestError {
  return new RequestError("request_malformed", "The body was cut short.", { cause });
}

export function tooLarge(detail: string): RequestError {
  return new RequestError("body_too_large", detail);
}

/** Fewer turns of the thread pool than the usual 16 KiB takes. */
const CHUNK_BYTES = 131_072;

/** Stops where more comes out than may, or than there is room for: a bomb costs no more than an honest body of that size. */
export async function unpacked(bytes: Buffer, maxBytes: number, share: Share): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const unzip = createGunzip({ chunkSize: Math.min(CHUNK_BYTES, maxBytes) });
  unzip.end(bytes);
  try {
    for await (const chunk of unzip as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(`A body here may have at most ${maxBytes} bytes once it is unpacked.`);
      share.take(chunk.length);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    throw new RequestError("encoding_invalid", "The body is said to be gzip, and cannot be unpacked as such.", { cause });
  }
  return Buffer.concat(chunks, size);
}

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** Without a byte order mark. */
export function plainUtf8(bytes: Buffer): Buffer {
  if (!isUtf8(bytes)) throw new RequestError("encoding_invalid", "The body is not valid UTF-8.");
  const begins = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return begins ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

export function textOf(bytes: Buffer): string {
  return plainUtf8(bytes).toString();
}
