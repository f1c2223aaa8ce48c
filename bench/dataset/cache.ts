// Cached data. It is created again when its fingerprint changes, that is when the generator or the schema has changed.

import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bench.ts";

/** `sources` are glob patterns of files, besides the generator, on which the data depends. */
export function fingerprintOf(...sources: readonly string[]): string {
  const hash = createHash("sha256");
  const files = ["bench/dataset/{readings,plans,fill}.ts", ...sources].flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  for (const file of files.toSorted()) hash.update(file).update(readFileSync(join(ROOT, file)));
  return hash.digest("hex").slice(0, 16);
}

/** The files that define the schema of an engine. */
export function schemaOf(engine: "sqlite" | "postgres"): readonly string[] {
  return [`src/store/${engine}/schema.ts`, "src/store/core/schema.ts", "src/store/packed/**/*.ts"];
}

/** Creates the file or folder at `path` atomically, unless it exists with this fingerprint. */
export async function createOnce(
  path: string,
  fingerprint: string,
  create: (unfinished: string) => Promise<void>,
): Promise<void> {
  const mark = `${path}.stamp`;
  if (existsSync(path) && existsSync(mark) && readFileSync(mark, "utf8") === fingerprint) return;
  const unfinished = `${path}.unfinished`;
  // An SQLite database has up to three files.
  for (const old of [mark, unfinished, path, ...[unfinished, path].flatMap((file) => [`${file}-wal`, `${file}-shm`])]) {
    rmSync(old, { recursive: true, force: true });
  }
  await create(unfinished);
  renameSync(unfinished, path);
  writeFileSync(mark, fingerprint);
}
