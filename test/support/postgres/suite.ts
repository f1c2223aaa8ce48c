// The runner's global setup: one PostgreSQL and one browser for all test files, compiled modules that they share, files in memory, and the
// dashboard as its source is now.

import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openStore } from "../../../src/store/open.ts";
import { browserPath } from "../chromium.ts";
import { folderInMemory } from "../memory.ts";
import { connectionError } from "./cluster.ts";
import { createDatabase, dropDatabase, TEMPLATE_LOCALE } from "./database.ts";
import { startServer, watchFolder } from "./server.ts";

let template: string | undefined;
let endServer = async (): Promise<void> => {};
let removeFiles = async (): Promise<void> => {};

/** Test files are processes of their own and inherit the environment. */
export async function globalSetup(): Promise<void> {
  // Otherwise each process and each writer thread compiles the same TypeScript again. The program's launcher uses the same folder.
  process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("../../../node_modules/.cache/compile", import.meta.url));
  const built = promisify(execFile)(process.execPath, [fileURLToPath(new URL("../../../dashboard/build.js", import.meta.url))]);
  const memory = folderInMemory();
  if (memory !== undefined) {
    process.env["TMPDIR"] = mkdtempSync(join(memory, "tank-monitor-tests-"));
    removeFiles = watchFolder(process.env["TMPDIR"]);
  }
  const browser = browserPath();
  const given = process.env["TEST_POSTGRES_URL"];
  if (given) {
    const error = await connectionError(given);
    if (error !== "") throw new Error(`The PostgreSQL that TEST_POSTGRES_URL names cannot be reached: ${error}`);
  } else {
    const { server, initial, end } = await startServer();
    endServer = end;
    process.env["TEST_POSTGRES_URL"] = server.url;
    process.env["TEST_POSTGRES_INITIAL"] = JSON.stringify(initial);
  }
  // Copying a database is faster than creating the schema in each.
  const { name, url } = await createDatabase({ locale: TEMPLATE_LOCALE });
  template = name;
  await (await openStore(url, () => {})).close();
  process.env["TEST_POSTGRES_TEMPLATE"] = name;
  await Promise.all([built, browser]);
}

export async function globalTeardown(): Promise<void> {
  if (template !== undefined) await dropDatabase(template);
  await endServer();
  await removeFiles();
}
