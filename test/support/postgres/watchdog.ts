// A process that outlives the tests: when its owner is gone, however it ended, it stops the owner's PostgreSQL servers and removes
// their folder. Standard input is a pipe from the owner, who writes to it when it has stopped them itself.

import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const [folder = ""] = process.argv.slice(2);
const STOP_MS = 5000;

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

async function stop(pid: number): Promise<void> {
  for (const signal of ["SIGQUIT", "SIGKILL"] as const) {
    send(pid, signal);
    for (let waited = 0; waited < STOP_MS && send(pid, 0); waited += 20) await pause(20);
  }
}

function runningIn(data: string): number[] {
  try {
    return [Number.parseInt(readFileSync(join(folder, data, "postmaster.pid"), "utf8"), 10)];
  } catch {
    return [];
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
let isOrderly = false;
process.stdin.on("data", () => {
  isOrderly = true;
});
process.stdin.once("close", async () => {
  await Promise.all(readdirSync(folder).flatMap(runningIn).map(stop));
  // The initdb of an owner that was killed may still be writing, also after the folder was removed once.
  const least = isOrderly ? 1 : 2;
  for (let attempt = 1; attempt <= 50; attempt++) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // It is not empty again: the next attempt removes the rest.
    }
    if (attempt >= least && !existsSync(folder)) break;
    await pause(200);
  }
});
