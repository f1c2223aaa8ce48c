// A server of bench/programs: it prints its address once it listens.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { start } from "../processes.ts";

export const program = (name: string): string => fileURLToPath(new URL(`../programs/${name}.ts`, import.meta.url));

export async function startProgram(
  name: string,
  words: readonly string[],
  ofNode: readonly string[] = [],
): Promise<{ child: ChildProcess; url: string }> {
  const env = { ...process.env, NODE_ENV: "production" };
  const child = start(process.execPath, [...ofNode, program(name), ...words], { env, stdio: ["ignore", "pipe", "inherit"] });
  if (child.stdout === null) throw new Error("a process without a pipe");
  const lines = createInterface({ input: child.stdout });
  const failed = once(child, "exit").then(() => {
    throw new Error(`bench/programs/${name}.ts did not start`);
  });
  const [url] = (await Promise.race([once(lines, "line"), failed])) as [string];
  failed.catch(() => {});
  return { child, url };
}
