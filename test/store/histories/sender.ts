// Another process that writes to the same database.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Write } from "./write.ts";

const SCRIPT = fileURLToPath(new URL("../processes/sends.ts", import.meta.url));

export class Sender {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #closed: Promise<unknown>;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child;
    this.#closed = once(child, "close");
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    // A write to a process that was killed is lost, as it should be.
    child.stdin.on("error", () => {});
  }

  /** Resolves when the process has opened the database. */
  static async start(url: string): Promise<Sender> {
    const child = spawn(process.execPath, [SCRIPT, url], { stdio: ["pipe", "pipe", "inherit"] });
    const sender = new Sender(child);
    const { value } = await sender.#lines.next();
    if (value !== "ready") throw new Error("the process that writes has not started");
    return sender;
  }

  handOver(writes: readonly Write[]): void {
    for (const write of writes) this.#child.stdin.write(`${JSON.stringify(write)}\n`);
  }

  /** What became of the next `count` writes that are acknowledged; of fewer, where the process ends before. */
  async acknowledged(count: number): Promise<string[][]> {
    const found: string[][] = [];
    while (found.length < count) {
      const line = await this.#lines.next();
      if (line.done === true) break;
      // The last line of a process that was killed may be half a line.
      if (line.value.endsWith("]")) found.push(JSON.parse(line.value));
    }
    return found;
  }

  /** Ends it as a power cut would, and gives what it had acknowledged and nobody had read yet. */
  async kill(): Promise<string[][]> {
    this.#child.kill("SIGKILL");
    const rest = await this.acknowledged(Number.POSITIVE_INFINITY);
    await this.#closed;
    return rest;
  }

  async end(): Promise<void> {
    this.#child.stdin.end();
    await this.#closed;
  }
}
