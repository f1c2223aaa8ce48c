// A script of test/store/processes as a child process that exchanges lines.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Lifetime } from "./service.ts";

export type Script = {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** The next line of its output; undefined once it has exited. */
  readonly next: () => Promise<string | undefined>;
  readonly tell: (line: string) => void;
  /** The exit code; null if it was killed. */
  readonly ended: Promise<number | null>;
};

/** Killed after the test at the latest. */
export function startScript(life: Lifetime, file: string, ...words: string[]): Script {
  const path = fileURLToPath(new URL(`../store/processes/${file}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...words], { stdio: ["pipe", "pipe", "inherit"] });
  life.after(() => child.kill("SIGKILL"));
  // Input for a killed process is lost.
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    next: async () => (await lines.next()).value,
    tell: (line) => child.stdin.write(`${line}\n`),
    ended: once(child, "close").then(([code]) => code),
  };
}
