// A folder for the files of a test.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Lifetime } from "./service.ts";

/** Removed after the test. */
export function temporaryFolder(life: Lifetime): string {
  const folder = mkdtempSync(join(tmpdir(), "tank-monitor-"));
  life.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
