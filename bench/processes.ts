// The processes of a run. None outlives it, however it ends.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

const alive = new Map<ChildProcess, NodeJS.Signals>();

process.on("exit", () => {
  for (const [child, signal] of alive) child.kill(signal);
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

/** `exitSignal` is sent if the run ends before the process was stopped. */
export function start(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
  exitSignal: NodeJS.Signals = "SIGKILL",
): ChildProcess {
  const child = spawn(command, args, options);
  alive.set(child, exitSignal);
  child.once("exit", () => alive.delete(child));
  child.once("error", () => alive.delete(child));
  return child;
}

/** Kills it if it does not stop in time. */
export async function stop(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  await ended;
  clearTimeout(timer);
}

type ProcessOptions = {
  readonly env?: Record<string, string | undefined>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
};

/** Runs a command and returns its stdout; stderr is part of the error if it fails. */
export async function output(command: string, args: readonly string[], options: ProcessOptions = {}): Promise<string> {
  const env = { ...process.env, ...options.env };
  const child = start(command, args, { ...options, env, stdio: ["ignore", "pipe", "pipe"] });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the process has no pipes");
  const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const [printed, errors, [code, signal]] = await Promise.all([text(stdout), text(stderr), ended]);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code ?? signal}: ${errors.trim().slice(-2000)}`);
  return printed;
}

/** Runs a Node program, and parses the last line of its output as JSON. */
export async function runProgram<T>(file: string, args: readonly string[]): Promise<T> {
  const printed = await output(process.execPath, [file, ...args]);
  return JSON.parse(printed.trim().split("\n").at(-1) ?? "") as T;
}
