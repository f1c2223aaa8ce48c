// Processes of a run: every one is known, and none outlives it, however the run ends.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

const alive = new Map<ChildProcess, NodeJS.Signals>();

process.on("exit", () => {
  for (const [child, signal] of alive) child.kill(signal);
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

/** `ending` is what stops the process where there is no time to wait for it. */
export function start(
  command: string,
  words: readonly string[],
  options: SpawnOptions = {},
  ending: NodeJS.Signals = "SIGKILL",
): ChildProcess {
  const child = spawn(command, words, options);
  alive.set(child, ending);
  child.once("exit", () => alive.delete(child));
  child.once("error", () => alive.delete(child));
  return child;
}

/** Asks it to stop, and sees to it that it does. */
export async function stop(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  child.kill(signal);
  const patience = setTimeout(() => child.kill("SIGKILL"), 30_000);
  await ended;
  clearTimeout(patience);
}

type Surroundings = {
  readonly env?: Record<string, string | undefined>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
};

/** Runs a command to its end and gives what it printed on stdout; what it says on stderr is only shown where it fails. */
export async function output(command: string, words: readonly string[], around: Surroundings = {}): Promise<string> {
  const env = { ...process.env, ...around.env };
  const child = start(command, words, { ...around, env, stdio: ["ignore", "pipe", "pipe"] });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("a process without pipes");
  const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const [printed, said, [code, signal]] = await Promise.all([text(stdout), text(stderr), ended]);
  if (code !== 0) throw new Error(`${command} ${words.join(" ")} ended with ${code ?? signal}: ${said.trim().slice(-2000)}`);
  return printed;
}

/** Runs one of our own programs in bench/programs, or anything else that Node runs, and reads the JSON of its last line. */
export async function runProgram<T>(file: string, words: readonly string[]): Promise<T> {
  const printed = await output(process.execPath, [file, ...words]);
  return JSON.parse(printed.trim().split("\n").at(-1) ?? "") as T;
}
