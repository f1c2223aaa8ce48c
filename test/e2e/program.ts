// The program as a user sees it: arguments, environment and working folder in; output and exit code out. Tests in this folder
// import nothing of src.

import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Lifetime } from "../support/service.ts";
import { until } from "../support/until.ts";
import type { CommandResponse } from "./command-process.ts";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const LAUNCHER = join(ROOT, "bin", "tank-monitor.js");
const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "compile");

export type ExitResult = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

type CommandOptions = {
  readonly cwd: string;
  /** An undefined variable is not set. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

type ProcessOptions = CommandOptions & {
  readonly input?: string;
  /** More input could come until the program ends. */
  readonly keepsInputOpen?: boolean;
  /** Runs the program: by default this Node and the launcher. */
  readonly program?: readonly [command: string, ...words: string[]];
};

export type RunningProgram = {
  /** -1 if it could not be started. */
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The first match in its output, past or to come, on either stream. */
  readonly waitForOutput: (pattern: RegExp, timeoutMs?: number) => Promise<RegExpExecArray>;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly exited: Promise<ExitResult>;
};

export type Service = RunningProgram & { readonly url: string; readonly stop: () => Promise<ExitResult> };

const TIMEOUT_MS = 60_000;
/** Longer than a graceful stop may take. */
const STOP_MS = 15_000;
/** Settings of the shell that runs the tests. */
const NOT_INHERITED =
  /^(DATABASE_|TANK_MONITOR_|PORT$|HOST$|LOG_LEVEL$|CORS_ORIGINS$|TRUST_PROXY$|RATE_LIMIT$|WORKERS$|MQTT_URL$|SMTP_URL$|NODE_)/;
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_INHERITED.test(name)));

/** Running children, and whether each leads a process group. */
const alive = new Map<ChildProcess, boolean>();
process.on("exit", () => {
  for (const child of alive.keys()) killNow(child);
});

function killNow(child: ChildProcess): void {
  try {
    if (alive.get(child) === true && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // It has exited.
  }
}

/** Starts a command without waiting for it. */
function launch(
  words: readonly string[],
  { cwd, env, input = "", keepsInputOpen = false, program }: ProcessOptions,
): RunningProgram {
  const [command, ...before] = program ?? [process.execPath, LAUNCHER];
  // A program that starts ours gets its own process group, so that both can be killed.
  const detached = program !== undefined;
  const child = spawn(command, [...before, ...words], { cwd, env: { ...inherited, ...env }, stdio: "pipe", detached });
  alive.set(child, detached);
  let watchdog: NodeJS.Timeout | undefined;
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  // A program may exit before it has read its input.
  child.stdin.on("error", () => {});
  if (keepsInputOpen) child.stdin.write(input);
  else child.stdin.end(input);
  const exited = new Promise<ExitResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      alive.delete(child);
      clearTimeout(watchdog);
      resolve({ code, signal, ...output });
    });
  });

  async function waitForOutput(pattern: RegExp, timeoutMs = TIMEOUT_MS): Promise<RegExpExecArray> {
    const what = `${words.join(" ")} prints ${pattern}`;
    const found = await until(
      what,
      () => pattern.exec(output.stdout) ?? pattern.exec(output.stderr) ?? (alive.has(child) ? undefined : "exited"),
      timeoutMs,
    ).catch(() => "took too long");
    if (typeof found !== "string") return found;
    throw new Error(`${what}: it ${found}\n${output.stdout}\n${output.stderr}`);
  }

  /** A program that ignores the signal is killed later, so that a test fails instead of hanging. */
  function kill(signal: NodeJS.Signals): void {
    if (!alive.has(child)) return;
    child.kill(signal);
    watchdog ??= setTimeout(() => killNow(child), STOP_MS);
  }
  return { pid: child.pid ?? -1, stdout: () => output.stdout, stderr: () => output.stderr, waitForOutput, kill, exited };
}

let commandProcess: ChildProcess | undefined;
let lastCommand: Promise<unknown> = Promise.resolve();

async function runInSharedProcess(words: readonly string[], { cwd, env }: CommandOptions): Promise<ExitResult> {
  commandProcess ??= startCommandProcess();
  const child = commandProcess;
  const defined = Object.entries({ ...inherited, ...env }).filter(([, value]) => value !== undefined);
  child.ref();
  child.channel?.ref();
  child.send({ words, cwd, env: { ...Object.fromEntries(defined), NODE_COMPILE_CACHE: COMPILE_CACHE } });
  const { promise, resolve, reject } = Promise.withResolvers<ExitResult>();
  const onMessage = (response: CommandResponse): void => resolve({ ...response, signal: null });
  const onExit = (): void => reject(new Error(`${words.join(" ")}: the shared process exited`));
  const timer = setTimeout(() => killNow(child), TIMEOUT_MS);
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
    execArgv: [`--import=${new URL("../support/resolve-imports.ts", import.meta.url).href}`],
  });
  alive.set(child, false);
  child.once("exit", () => {
    alive.delete(child);
    commandProcess = undefined;
  });
  return child;
}

function stop(command: RunningProgram): Promise<ExitResult> {
  command.kill("SIGTERM");
  return command.exited;
}

export type Workspace = {
  readonly folder: string;
  readonly path: (name: string) => string;
  /** Runs a command to its end in the process that all commands of this test file share, after those before it. */
  readonly run: (words: readonly string[], more?: Partial<CommandOptions>) => Promise<ExitResult>;
  /** Runs a command to its end in a process of its own. */
  readonly spawn: (words: readonly string[], more?: Partial<ProcessOptions>) => Promise<ExitResult>;
  readonly launch: (words: readonly string[], more?: Partial<ProcessOptions>) => RunningProgram;
  /** Starts a service, and waits until it listens. */
  readonly start: (words?: readonly string[], more?: Partial<ProcessOptions>) => Promise<Service>;
};

/** A folder to run the program in, with the database `tanks.db` and any free port. Removed, and its programs stopped, after the test. */
export function workspace(life: Lifetime, settings: Record<string, string> = {}): Workspace {
  const folder = mkdtempSync(join(tmpdir(), "tank-monitor-e2e-"));
  const launched: RunningProgram[] = [];
  life.after(async () => {
    await Promise.allSettled(launched.map(stop));
    rmSync(folder, { recursive: true, force: true });
  });
  const optionsWith = ({ env, ...more }: Partial<ProcessOptions> = {}): ProcessOptions => ({
    cwd: folder,
    env: { DATABASE_URL: "sqlite:tanks.db", PORT: "0", ...settings, ...env },
    ...more,
  });
  function launchHere(words: readonly string[], more?: Partial<ProcessOptions>): RunningProgram {
    const command = launch(words, optionsWith(more));
    launched.push(command);
    return command;
  }
  return {
    folder,
    path: (name) => join(folder, name),
    run(words, more) {
      const result = lastCommand.then(() => runInSharedProcess(words, optionsWith(more)));
      lastCommand = result.catch(() => {});
      return result;
    },
    spawn(words, more) {
      const command = launchHere(words, more);
      const timer = setTimeout(() => command.kill("SIGKILL"), TIMEOUT_MS);
      return command.exited.finally(() => clearTimeout(timer));
    },
    launch: launchHere,
    async start(words = ["serve"], more) {
      const command = launchHere(words, more);
      const [, url = ""] = await command.waitForOutput(/"event":"listening","url":"([^"]+)"/);
      return { ...command, url, stop: () => stop(command) };
    },
  };
}
