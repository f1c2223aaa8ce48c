// Data is made once and kept. It is made anew when its stamp no longer fits: when the generator or the schema has changed.

import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bench.ts";

/** `sources` are files of the repository, or patterns of them, on which the data depends besides the generator. */
export function stampOf(...sources: readonly string[]): string {
  const hash = createHash("sha256");
  const files = ["bench/dataset/{readings,plans,fill}.ts", ...sources].flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  for (const file of files.toSorted()) hash.update(file).update(readFileSync(join(ROOT, file)));
  return hash.digest("hex").slice(0, 16);
}

/** Where the shape of an engine's database is written down. */
export function schemaOf(engine: "sqlite" | "postgres"): readonly string[] {
  return [`src/store/${engine}/{schema,migrations}.ts`, "src/store/series/**/*.ts"];
}

/** What `make` leaves at its path becomes the file or folder at `path`, in one step, unless it is there and of this stamp. */
export async function makeOnce(path: string, stamp: string, make: (making: string) => Promise<void>): Promise<void> {
  const mark = `${path}.stamp`;
  if (existsSync(path) && existsSync(mark) && readFileSync(mark, "utf8") === stamp) return;
  const making = `${path}.making`;
  // SQLite keeps more than one file a database.
  for (const old of [mark, making, path, ...[making, path].flatMap((file) => [`${file}-wal`, `${file}-shm`])]) {
    rmSync(old, { recursive: true, force: true });
  }
  await make(making);
  renameSync(making, path);
  writeFileSync(mark, stamp);
}
