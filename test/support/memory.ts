// Files in memory: creating a database there costs far less than on a disk.

import { readFileSync, statfsSync } from "node:fs";

const FOLDER = "/dev/shm";
/** Several times what the tests need. */
const NEEDED_BYTES = 3 * 1024 ** 3;

/** Undefined where there is none, it is too small, or programs that tests unpack could not be run in it. */
export function folderInMemory(): string | undefined {
  try {
    const [, options = "noexec"] = new RegExp(` ${FOLDER} tmpfs (\\S+)`).exec(readFileSync("/proc/mounts", "utf8")) ?? [];
    const { bavail, bsize } = statfsSync(FOLDER);
    return bavail * bsize < NEEDED_BYTES || options.split(",").includes("noexec") ? undefined : FOLDER;
  } catch {
    return undefined;
  }
}
