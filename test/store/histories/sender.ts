// Another process that writes to the same database.

import { type Script, startScript } from "../../support/script.ts";
import type { Lifetime } from "../../support/service.ts";
import type { Arrivals, Write } from "./write.ts";

export class Sender {
  readonly #script: Script;

  private constructor(script: Script) {
    this.#script = script;
  }

  /** Resolves when the process has opened the database. */
  static async start(life: Lifetime, url: string): Promise<Sender> {
    const script = startScript(life, "sends.ts", url);
    if ((await script.next()) !== "ready") throw new Error("the process that writes has not started");
    return new Sender(script);
  }

  handOver(writes: readonly (Write | Arrivals)[]): void {
    for (const write of writes) this.#script.tell(JSON.stringify(write));
  }

  /** What became of the next `count` writes that are acknowledged; of fewer, where the process ends before. */
  async acknowledged(count: number): Promise<string[][]> {
    const found: string[][] = [];
    while (found.length < count) {
      const line = await this.#script.next();
      if (line === undefined) break;
      // The last line of a process that was killed may be half a line.
      if (line.endsWith("]")) found.push(JSON.parse(line));
    }
    return found;
  }

  /** Ends it as a power cut would, and gives what it had acknowledged and nobody had read yet. */
  async kill(): Promise<string[][]> {
    this.#script.child.kill("SIGKILL");
    const rest = await this.acknowledged(Number.POSITIVE_INFINITY);
    await this.#script.ended;
    return rest;
  }

  async end(): Promise<void> {
    this.#script.child.stdin.end();
    await this.#script.ended;
  }
}
