// Runs the tests of many files in one process: starting a process for each file takes longer than most of its tests. Tests that
// measure time or memory, or stop a database server of their own, are in folders named `alone`: each file is a process. So are the files
// of `observe`: what a test of the log still writes to a descriptor that it has closed would reach the socket of another test.

import { globSync } from "node:fs";
import { type TestContext, test } from "node:test";

const ROOT = new URL("../../", import.meta.url);

/** The files that `npm test` runs in one process, by the test file that imports them. */
export const GROUPS = {
  "dashboard-a-l": "test/dashboard/[a-l]*.test.ts",
  "dashboard-m-z": "test/dashboard/[m-z]*.test.ts",
  engines: "test/store/{postgres,sqlite}*.test.ts",
  http: "test/http/*.test.ts",
  ingest: "test/{ingest,simulate,workers}/**/*.test.ts",
  store: "test/store/!(postgres|sqlite)*.test.ts",
  units: "test/{cli,config,domain,store/packed,structure}/**/*.test.ts",
} as const;

export const filesOf = (pattern: string): string[] =>
  globSync(pattern, { cwd: ROOT })
    .map((file) => file.replaceAll("\\", "/"))
    .sort();

/**
 * The tests of the file wait until it is loaded: if all it has defined so far ended while it starts another service, the runner would
 * take the file as complete, and cancel the others.
 */
async function loadBeforeTests(file: TestContext, load: () => Promise<unknown>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const loaded = file.test("is loaded", () => promise);
  await load().then(() => resolve(), reject);
  await loaded;
}

export async function importTests(group: keyof typeof GROUPS): Promise<void> {
  for (const file of filesOf(GROUPS[group])) {
    const load = () => import(new URL(file, ROOT).href);
    // What such a file has started, services and browsers, ends with it, and does not go on beside the next one.
    if (group === "http" || group.startsWith("dashboard")) void test(file, (t) => loadBeforeTests(t, load));
    else await load();
  }
}
