// A PostgreSQL program as a process: as its user, in that user's folder, with what it says in a file.

import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, closeSync, openSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { User } from "./programs.ts";

export type Launch = {
  readonly user: User;
  /** The caller's may be closed to the user. */
  readonly folder: string;
  readonly logFile: string;
  readonly signal?: AbortSignal;
};

type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export function launch(program: string, options: readonly string[], { user, folder, logFile, signal }: Launch) {
  const log = openSync(logFile, "a");
  const how = { ...user, cwd: folder, env: environment(), windowsHide: true, ...(signal && { signal }) };
  const child = spawn(program, options, { ...how, stdio: ["ignore", log, log] });
  closeSync(log);
  const ended = new Promise<Ended>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", (error) => {
      appendFileSync(logFile, `${program}: ${error.message}\n`);
      if (child.pid === undefined) resolve({ code: null, signal: null });
    });
  });
  return { child, ended };
}

/** The caller's, without what would change how PostgreSQL behaves or speaks. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG|TZ$)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C" };
}

/** Whether it has ended in time. */
export async function hasEnded(child: ChildProcess, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (child.exitCode === null && child.signalCode === null) {
    if (performance.now() > deadline) return false;
    await pause(5);
  }
  return true;
}
