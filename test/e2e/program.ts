// The program as a user has it: spawned, and known only by its arguments, streams, signals and exit code. Tests in this
// folder import nothing of src.

import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import type { CommandResponse } from "./command-process.ts";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const LAUNCHER = join(ROOT, "bin", "tank-monitor.js");
const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "compile");

/** Something with an end: a test, or a suite that cleans up after itself. */
export type Lifetime = { readonly after: (end: () => unknown) => void };

export type ExitResult = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type RunOptions = {
  readonly cwd: string;
  /** What is undefined is not set. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  /** What runs the program: a Node and the launcher, unless a test wants another. */
  readonly program?: readonly [command: string, ...words: string[]];
  /** After this long a command that should have ended is killed. */
  readonly timeoutMs?: number;
};

export type RunningProgram = {
  /** -1 where it could not be started. */
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The first match in what it has said, or will say, on either stream. */
  readonly waitForOutput: (pattern: RegExp, milliseconds?: number) => Promise<RegExpExecArray>;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly exited: Promise<ExitResult>;
};

export type Service = RunningProgram & { readonly url: string; readonly stop: () => Promise<ExitResult> };

const PATIENCE_MS = 60_000;
/** Longer than an orderly stop may take. */
const STOP_MS = 15_000;
/** Settings of whoever runs the tests are not those of the program under test. */
const NOT_INHERITED =
  /^(DATABASE_|TANK_MONITOR_|PORT$|HOST$|LOG_LEVEL$|CORS_ORIGINS$|TRUST_PROXY$|RATE_LIMIT$|WORKERS$|MQTT_URL$|SMTP_URL$|NODE_)/;
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_INHERITED.test(name)));

/** Every child that runs, and whether it leads a group. */
const alive = new Map<ChildProcess, boolean>();
process.on("exit", () => {
  for (const child of alive.keys()) endNow(child);
});

function endNow(child: ChildProcess): void {
  try {
    if (alive.get(child) === true && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** Starts a command and does not wait for it. */
function launch(words: readonly string[], { cwd, env = {}, input, program }: RunOptions): RunningProgram {
  const [command, ...before] = program ?? [process.execPath, LAUNCHER];
  // What starts the program through another one has a group of its own, so that both can be ended.
  const detached = program !== undefined;
  const child = spawn(command, [...before, ...words], { cwd, env: { ...inherited, ...env }, stdio: "pipe", detached });
  alive.set(child, detached);
  let watchdog: NodeJS.Timeout | undefined;
  let stdout = "";
  let stderr = "";
  const listeners = new Set<() => void>();
  const told = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    told();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    told();
  });
  // A program that ends before it has read everything is for its exit code to tell.
  child.stdin.on("error", () => {});
  child.stdin.end(input ?? "");
  const ended = new Promise<ExitResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      alive.delete(child);
      clearTimeout(watchdog);
      resolve({ code, signal, stdout, stderr });
      told();
    });
  });

  async function said(pattern: RegExp, milliseconds = PATIENCE_MS): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const fail = (why: string): void => reject(new Error(`${why} without saying ${pattern}:\n${stdout}\n${stderr}`));
    const look = (): void => {
      const match = pattern.exec(stdout) ?? pattern.exec(stderr);
      if (match !== null) resolve(match);
      else if (!alive.has(child)) fail(`${words.join(" ")} ended`);
    };
    const timer = setTimeout(() => fail(`${words.join(" ")} took ${milliseconds} ms`), milliseconds);
    listeners.add(look);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      listeners.delete(look);
    });
  }

  /** Whatever does not heed a signal is ended all the same, so that a test fails instead of hanging. */
  function kill(signal: NodeJS.Signals): void {
    if (!alive.has(child)) return;
    child.kill(signal);
    watchdog ??= setTimeout(() => endNow(child), STOP_MS);
  }
  return { pid: child.pid ?? -1, stdout: () => stdout, stderr: () => stderr, waitForOutput: said, kill, exited: ended };
}

/** Runs a command in a process of its own to its end. */
async function spawnCommand(words: readonly string[], surroundings: RunOptions): Promise<ExitResult> {
  const command = launch(words, surroundings);
  const timer = setTimeout(() => command.kill("SIGKILL"), surroundings.timeoutMs ?? PATIENCE_MS);
  return command.exited.finally(() => clearTimeout(timer));
}

let commandProcess: ChildProcess | undefined;
let lastCommand: Promise<unknown> = Promise.resolve();

/** Runs a command in the process that all commands of this test file share, after those before it. */
function run(words: readonly string[], surroundings: RunOptions): Promise<ExitResult> {
  const result = lastCommand.then(() => runInSharedProcess(words, surroundings));
  lastCommand = result.catch(() => {});
  return result;
}

async function runInSharedProcess(
  words: readonly string[],
  { cwd, env = {}, timeoutMs: patience }: RunOptions,
): Promise<ExitResult> {
  commandProcess ??= startCommandProcess();
  const child = commandProcess;
  const defined = Object.entries({ ...inherited, ...env }).filter(([, value]) => value !== undefined);
  child.ref();
  child.channel?.ref();
  child.send({ words, cwd, env: { ...Object.fromEntries(defined), NODE_COMPILE_CACHE: COMPILE_CACHE } });
  const { promise, resolve, reject } = Promise.withResolvers<ExitResult>();
  const onMessage = (response: CommandResponse): void => resolve({ ...response, signal: null });
  const onExit = (): void => reject(new Error(`${words.join(" ")}: the process ended`));
  const timer = setTimeout(() => endNow(child), patience ?? PATIENCE_MS);
  child.once("message", onMessage).once("exit", onExit);
  return promise.finally(() => {
    clearTimeout(timer);
    child.off("message", onMessage).off("exit", onExit);
    child.unref();
    child.channel?.unref();
  });
}

function startCommandProcess(): ChildProcess {
  const child = fork(fileURLToPath(new URL("command-process.ts", import.meta.url)), {
    env: { ...inherited, NODE_COMPILE_CACHE: COMPILE_CACHE },
    execArgv: [],
  });
  alive.set(child, false);
  child.once("exit", () => {
    alive.delete(child);
    commandProcess = undefined;
  });
  return child;
}

function end(command: RunningProgram): Promise<ExitResult> {
  command.kill("SIGTERM");
  return command.exited;
}

export type Workspace = {
  readonly folder: string;
  readonly path: (name: string) => string;
  /** Runs a command to its end: in a shared process, or in one of its own where it needs another program or input. */
  readonly run: (words: readonly string[], more?: Partial<RunOptions>) => Promise<ExitResult>;
  /** Runs a command to its end in a process of its own. */
  readonly spawn: (words: readonly string[], more?: Partial<RunOptions>) => Promise<ExitResult>;
  readonly launch: (words: readonly string[], more?: Partial<RunOptions>) => RunningProgram;
  /** Starts a command that serves, and waits until it does. */
  readonly start: (words?: readonly string[], more?: Partial<RunOptions>) => Promise<Service>;
};

/** A folder of its own to run the program in, with the database `tanks.db` and any free port. All of it ends with the test. */
export function workspace(life: Lifetime): Workspace {
  const folder = mkdtempSync(join(tmpdir(), "tank-monitor-e2e-"));
  const launched: RunningProgram[] = [];
  life.after(async () => {
    await Promise.allSettled(launched.map(end));
    rmSync(folder, { recursive: true, force: true });
  });
  const around = ({ env, ...more }: Partial<RunOptions> = {}): RunOptions => ({
    cwd: folder,
    env: { DATABASE_URL: "sqlite:tanks.db", PORT: "0", ...env },
    ...more,
  });
  function launchHere(words: readonly string[], more?: Partial<RunOptions>): RunningProgram {
    const command = launch(words, around(more));
    launched.push(command);
    return command;
  }
  return {
    folder,
    path: (name) => join(folder, name),
    run: (words, more) =>
      (more?.program ?? more?.input) === undefined ? run(words, around(more)) : spawnCommand(words, around(more)),
    spawn: (words, more) => spawnCommand(words, around(more)),
    launch: launchHere,
    async start(words = ["serve"], more) {
      const command = launchHere(words, more);
      const [, url = ""] = await command.waitForOutput(/"event":"listening","url":"([^"]+)"/);
      return { ...command, url, stop: () => end(command) };
    },
  };
}

/** For a suite: what its tests share ends after the last of them. */
export function suiteLifetime(): Lifetime {
  const ends: (() => unknown)[] = [];
  after(async () => {
    for (const end of ends) await end();
  });
  return { after: (end) => void ends.push(end) };
}
