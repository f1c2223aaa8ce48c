// The bytes of a body, bounded, and the text they are. What is left of a body that is refused is read and dropped: a sender
// who is still sending would not hear the answer otherwise.

import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { Refusal } from "../domain/errors.ts";
import type { Share } from "./room.ts";

export function bytesOf(raw: IncomingMessage, maxBytes: number, share: Share): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  raw.on("data", (chunk: Buffer) => {
    size += chunk.length;
    try {
      if (size > maxBytes) throw tooLarge(`A body here may have at most ${maxBytes} bytes.`);
      share.take(chunk.length);
      chunks.push(chunk);
    } catch (error) {
      chunks.length = 0;
      // What still comes is dropped.
      size = Number.POSITIVE_INFINITY;
      reject(error);
    }
  });
  raw.on("end", () => resolve(Buffer.concat(chunks)));
  raw.on("error", (cause) => reject(cutShort(cause)));
  return promise;
}

export function cutShort(cause: unknown): Refusal {
  return new Refusal("request_malformed", "The body was cut short.", { cause });
}

export function tooLarge(detail: string): Refusal {
  return new Refusal("body_too_large", detail);
}

const unzip = promisify(gunzip);
/** Fewer turns of the thread pool than the usual 16 KiB takes. */
const CHUNK_BYTES = 131_072;

/** Stops where more comes out than may: a bomb costs no more than an honest body of that size. */
export async function unpacked(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await unzip(bytes, { maxOutputLength: maxBytes, chunkSize: Math.min(CHUNK_BYTES, maxBytes) });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw tooLarge(`A body here may have at most ${maxBytes} bytes once it is unpacked.`);
    }
    throw new Refusal("encoding_invalid", "The body is said to be gzip, and cannot be unpacked as such.", { cause });
  }
}

export function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal("encoding_invalid", "The body is not valid UTF-8.");
  }
}
