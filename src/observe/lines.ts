// Where the log goes: stderr, in the background. A log that cannot be written must not hold up the service, so lines are
// dropped then, counted, and the count is told when writing works again.

import { write, writeSync } from "node:fs";

const STDERR = 2;
/** Characters that may wait while one write is under way. */
const ROOM = 4_194_304;
const TRY_AGAIN_MS = 50;

export class LogLines {
  readonly #descriptor: number;
  #waiting = "";
  #isWriting = false;
  #dropped = 0;

  constructor(descriptor = STDERR) {
    this.#descriptor = descriptor;
  }

  write(lines: string): void {
    if (this.#waiting.length > ROOM) this.#dropped += linesIn(lines);
    else this.#waiting += lines;
    if (!this.#isWriting) this.#next();
  }

  /** For the end of the process: what waits is written, as far as it can be. */
  flush(): void {
    try {
      writeSync(this.#descriptor, this.#waiting);
    } catch {
      // Nobody is left to tell.
    }
    this.#waiting = "";
  }

  #next(): void {
    if (this.#waiting === "") return;
    this.#isWriting = true;
    this.#put(Buffer.from(this.#waiting));
    this.#waiting = "";
  }

  #put(bytes: Buffer): void {
    write(this.#descriptor, bytes, (error, written) => {
      if (error?.code === "EAGAIN") {
        setTimeout(() => this.#put(bytes), TRY_AGAIN_MS);
      } else if (error === null && written < bytes.length) {
        this.#put(bytes.subarray(written));
      } else {
        this.#isWriting = false;
        if (error === null) this.#tellDropped();
        else this.#dropped += linesIn(bytes);
        this.#next();
      }
    });
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return;
    this.#waiting = `{"level":40,"event":"log_lines_dropped","lines":${this.#dropped},"msg":"log lines could not be written"}\n${this.#waiting}`;
    this.#dropped = 0;
  }
}

function linesIn(text: Buffer | string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
