// The memory of a process, seen from outside.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const KILOBYTES_A_MEGABYTE = 1024;

/** What it takes of the machine, in megabytes. */
export function memoryOf(pid: number): number {
  const kilobytes =
    process.platform === "linux"
      ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
      : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return Number(kilobytes) / KILOBYTES_A_MEGABYTE;
}
