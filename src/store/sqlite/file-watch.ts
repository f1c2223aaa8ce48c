// Watches whether the database file is still the one that was opened. SQLite continues to read and write a file that was moved
// away; what is acknowledged then is lost to the operator.

import { stat } from "node:fs/promises";

const CHECK_INTERVAL_MS = 500;

/** `changed` gets the reason when the file is lost, and undefined when it is back. Returns the function that stops watching. */
export async function watchFile(file: string, changed: (lost: string | undefined) => void): Promise<() => void> {
  let inode: number | undefined;
  let lost: string | undefined;

  async function lossReason(): Promise<string | undefined> {
    try {
      const { ino } = await stat(file);
      inode ??= ino;
      return ino === inode ? undefined : `${file} was replaced while in use; restart to serve the new file`;
    } catch (error) {
      return `${file} cannot be found: ${(error as Error).message}`;
    }
  }

  async function check(): Promise<void> {
    const before = lost;
    lost = await lossReason();
    if (lost !== before) changed(lost);
  }

  await check();
  const timer = setInterval(() => void check(), CHECK_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
