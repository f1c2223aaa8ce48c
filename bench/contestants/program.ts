// Servers of bench/programs, which print their address once they listen.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { start, stop } from "../processes.ts";
import type { Contestant } from "./contestant.ts";

export const program = (name: string): string => fileURLToPath(new URL(`../programs/${name}.ts`, import.meta.url));

export async function startProgram(
  name: string,
  words: readonly string[],
  nodeOptions: readonly string[] = [],
): Promise<{ child: ChildProcess; url: string }> {
  const env = { ...process.env, NODE_ENV: "production" };
  const child = start(process.execPath, [...nodeOptions, program(name), ...words], { env, stdio: ["ignore", "pipe", "inherit"] });
  if (child.stdout === null) throw new Error("the process has no stdout pipe");
  const lines = createInterface({ input: child.stdout });
  const failed = once(child, "exit").then(() => {
    throw new Error(`bench/programs/${name}.ts did not start`);
  });
  const [url] = (await Promise.race([once(lines, "line"), failed])) as [string];
  failed.catch(() => {});
  return { child, url };
}

/** A Fastify server without anything else, which responds to every request of `ours` with the same bytes. */
export async function startBareFastify(ours: Contestant, body: string): Promise<Contestant> {
  const { child, url } = await startProgram("bare", [body]);
  return { ...ours, name: "bare Fastify", url, pid: child.pid ?? 0, [Symbol.asyncDispose]: () => stop(child) };
}
