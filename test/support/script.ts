// A script of the tests as a process of its own, which is spoken to in lines.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Lifetime } from "./service.ts";

export type Script = {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** The next line it says; undefined when it has ended. */
  readonly next: () => Promise<string | undefined>;
  readonly tell: (line: string) => void;
  /** The status it ended with; null where it was killed. */
  readonly ended: Promise<number | null>;
};

/** `file` is one of test/store/processes. It is killed, at the latest, when the life ends. */
export function startScript(life: Lifetime, file: string, ...words: string[]): Script {
  const path = fileURLToPath(new URL(`../store/processes/${file}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...words], { stdio: ["pipe", "pipe", "inherit"] });
  life.after(() => child.kill("SIGKILL"));
  // What is told to a process that was killed is lost, as it should be.
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    next: async () => (await lines.next()).value,
    tell: (line) => child.stdin.write(`${line}\n`),
    ended: once(child, "close").then(([code]) => code),
  };
}
