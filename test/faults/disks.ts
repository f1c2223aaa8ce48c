// Disks that fill up: a small one in memory, where the system lets us mount it; and a limit on the size of files, which anybody may
// set for a process of theirs. Other systems than Linux have neither.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Lifetime } from "../e2e/program.ts";

export type Disk = {
  /** Where a database on it lies. */
  readonly databaseUrl: string;
  /** From now on nothing more can be written by this process. */
  readonly fill: (pid: number) => void;
  readonly free: (pid: number) => void;
};

export type DiskKind = { readonly name: string; readonly open: (life: Lifetime) => Promise<Disk> };

export const DISKS: readonly DiskKind[] = [
  ...(canMount() ? [{ name: "a small disk", open: smallDisk }] : []),
  ...(process.platform === "linux" ? [{ name: "a quota", open: async () => quota() }] : []),
];

const MEGABYTE = 1_048_576;
const DISK_BYTES = 16 * MEGABYTE;

/** Root may mount, unless it is root of a container. */
function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const words = ["--mount", "mount", "-t", "tmpfs", "none", tmpdir()];
  return spawnSync("unshare", words).status === 0;
}

/** The process that holds the mount unmounts it when this process exits for any reason. */
const HOLD = `mount -t tmpfs -o size=${DISK_BYTES},mode=0700 none "$1" && echo mounted; read -r _; umount -l "$1"; rmdir "$1"`;

async function smallDisk(life: Lifetime): Promise<Disk> {
  const folder = mkdtempSync(join(tmpdir(), "tank-monitor-disk-"));
  const holder = spawn("sh", ["-c", HOLD, "sh", folder], { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const ended = once(holder, "exit");
  life.after(async () => {
    holder.stdin.end();
    await ended;
  });
  await Promise.race([once(holder.stdout, "data"), ended]);
  assert.equal(holder.exitCode, null, "the disk is mounted");
  const ballast = join(folder, "ballast");
  return {
    databaseUrl: `sqlite:${join(folder, "tanks.db")}`,
    fill: () => fillUp(ballast),
    free: () => rmSync(ballast),
  };
}

/** To the last byte. */
function fillUp(file: string): void {
  const descriptor = openSync(file, "a");
  try {
    for (let size = MEGABYTE; size >= 1; ) {
      try {
        writeSync(descriptor, Buffer.alloc(size));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        size /= 2;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Every file ends at its first page: there is no room for anything behind it. */
function quota(): Disk {
  let before = "";
  return {
    databaseUrl: "sqlite:tanks.db",
    fill(pid) {
      before = /^Max file size +(\w+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[1] ?? "unlimited";
      limit(pid, "4096");
    },
    free: (pid) => limit(pid, before),
  };
}

/** The soft limit alone, which its owner may raise again. */
const limit = (pid: number, bytes: string): unknown => execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`]);
