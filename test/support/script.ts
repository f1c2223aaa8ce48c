// A script of test/store/processes as a child process that exchanges lines.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Lifetime } from "./service.ts";

export type Script = {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** The next `count` lines of its output; fewer if it exits. */
  readonly lines: (count: number) => Promise<string[]>;
  readonly send: (line: string) => void;
};

/** Resolves when the script has printed "ready". It is killed after the test at the latest. */
export async function startScript(life: Lifetime, file: string, ...args: string[]): Promise<Script> {
  const path = fileURLToPath(new URL(`../store/processes/${file}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  life.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  // Input for a killed process is lost.
  child.stdin.on("error", () => {});
  const output = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const lines = async (count: number): Promise<string[]> => {
    const found: string[] = [];
    while (found.length < count) {
      const { value, done } = await output.next();
      if (done === true) break;
      found.push(value);
    }
    return found;
  };
  if ((await lines(1))[0] !== "ready") throw new Error(`${file} has not started`);
  return { child, lines, send: (line) => child.stdin.write(`${line}\n`) };
}
