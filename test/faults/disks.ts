// Disks that are full: by a limit on the size of files, which anybody may set for their processes on Linux, and as a small one in
// memory, where the system allows to mount it.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Lifetime } from "../support/service.ts";

export type Disk = {
  /** Of a database on it. */
  readonly databaseUrl: string;
  /** This process can write nothing more. */
  readonly fill: (pid: number) => void;
  readonly free: (pid: number) => void;
};

export type DiskKind = { readonly name: string; readonly skip: boolean; readonly open: (life: Lifetime) => Promise<Disk> };

export const LIMITED_FILES: DiskKind = {
  name: "a file size limit",
  skip: process.platform !== "linux",
  async open() {
    let before = "";
    // The soft limit alone, which its owner may raise again.
    const limit = (pid: number, bytes: string) => execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`]);
    return {
      databaseUrl: "sqlite:tanks.db",
      fill(pid) {
        before = /^Max file size +(\w+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[1] ?? "unlimited";
        limit(pid, "4096");
      },
      free: (pid) => limit(pid, before),
    };
  },
};

const MEGABYTE = 1_048_576;

/** The process that holds the mount unmounts it when this process exits for any reason. */
const HOLD = `mount -t tmpfs -o size=16m,mode=0700 none "$1" && echo mounted; read -r _; umount -l "$1"; rmdir "$1"`;

export const SMALL_DISK: DiskKind = {
  name: "a small disk",
  skip: process.platform !== "linux" || spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", tmpdir()]).status !== 0,
  async open(life) {
    const { folder, fill, free } = await mountSmallDisk(life);
    return { databaseUrl: `sqlite:${join(folder, "tanks.db")}`, fill, free };
  },
};

type SmallDisk = { readonly folder: string; readonly fill: () => void; readonly free: () => void };

export async function mountSmallDisk(life: Lifetime, parent = tmpdir()): Promise<SmallDisk> {
  const folder = mkdtempSync(join(parent, "tank-monitor-disk-"));
  const holder = spawn("sh", ["-c", HOLD, "sh", folder], { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const ended = once(holder, "exit");
  life.after(async () => {
    holder.stdin.end();
    await ended;
  });
  await Promise.race([once(holder.stdout, "data"), ended]);
  assert.equal(holder.exitCode, null, "the disk is mounted");
  const ballast = join(folder, "ballast");
  return { folder, fill: () => fillUp(ballast), free: () => rmSync(ballast) };
}

/** To the last byte. */
function fillUp(file: string): void {
  const descriptor = openSync(file, "a");
  for (let size = MEGABYTE; size >= 1; ) {
    try {
      writeSync(descriptor, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      size /= 2;
    }
  }
  closeSync(descriptor);
}
