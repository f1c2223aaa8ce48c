// Rejected lines: the first ones on stderr, all of them in a file beside the imported one.

import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import type { RejectedLine } from "../ingest/import.ts";
import { say } from "./command.ts";

const SAID = 20;

export class Rejects {
  readonly #source: string;
  readonly #file: string;
  #descriptor: number | undefined;
  #isUnwritable = false;
  #count = 0;

  constructor(source: string) {
    this.#source = source === "-" ? "stdin" : source;
    this.#file = `${this.#source}.rejects.ndjson`;
    // What an earlier run rejected may be mended by now.
    try {
      rmSync(this.#file, { force: true });
    } catch {
      // Then it cannot be written either, which is told when there is something to write.
    }
  }

  add(reject: RejectedLine): void {
    this.#write(`${JSON.stringify(reject)}\n`);
    this.#count++;
    if (this.#count <= SAID || this.#isUnwritable) say(`${this.#source}:${reject.line}: ${reject.reason}`);
    else if (this.#count === SAID + 1) say(`… more rejected lines are only written to ${this.#file}`);
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    say(`${this.#count} rejected, with the reasons in ${this.#file}`);
  }

  /** A file that cannot be written stops nothing: then all reasons are said. */
  #write(line: string): void {
    if (this.#isUnwritable) return;
    try {
      this.#descriptor ??= openSync(this.#file, "w");
      writeSync(this.#descriptor, line);
    } catch (error) {
      this.#isUnwritable = true;
      say(`tank-monitor: ${this.#file} cannot be written (${(error as Error).message}); rejected lines are only told here`);
    }
  }
}
