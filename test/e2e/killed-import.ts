// An import that is killed at random moments and repeated: short in `npm test`, longer in `npm run test:long`.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { until } from "../support/until.ts";
import { manyLines, ndjson } from "./fixtures.ts";
import { workspace } from "./program.ts";

/** The size of a database, seen from outside; 0 before it exists. */
export function pagesOf(file: string): number {
  if (!existsSync(file)) return 0;
  using db = new DatabaseSync(file, { readOnly: true, timeout: 1000 });
  return Number(db.prepare("PRAGMA page_count").get()?.["page_count"]);
}

export async function importDespiteKills(t: TestContext, lines: number, kills: number): Promise<void> {
  const here = workspace(t);
  const all = [...manyLines(lines)];
  writeFileSync(here.path("many.ndjson"), ndjson(all));
  // Without its end an import cannot finish before it is killed.
  const begun = { input: ndjson(all.slice(0, 0.95 * lines)), keepsInputOpen: true };
  const undisturbed = { env: { DATABASE_URL: "sqlite:undisturbed.db" } };
  const whole = await here.run(["import", "many.ndjson", "--json"], undisturbed);
  assert.equal(
    whole.stdout,
    `{"read":${lines},"new":${lines},"changed":0,"unchanged":0,"rejected":0,"pending":0,"assumed_utc":0}\n`,
  );

  for (let kill = 0; kill < kills; kill++) {
    // Customers and tanks come first in the file: by half of it they are all there.
    const share = 0.5 + (0.2 * (kill + Math.random())) / kills;
    t.diagnostic(`killed when about ${Math.round(share * 100)} % were imported`);
    const importing = here.launch(["import", "-"], begun);
    const pages = share * pagesOf(here.path("undisturbed.db"));
    await until("a part is imported", () => pagesOf(here.path("tanks.db")) >= pages, 60_000);
    importing.kill("SIGKILL");
    assert.equal((await importing.exited).signal, "SIGKILL");
  }

  const checked = await here.run(["check"]);
  assert.equal(checked.code, 0, `what the last kill left is consistent: ${checked.stdout}`);

  const last = await here.run(["import", "many.ndjson", "--json"]);
  const summary = JSON.parse(last.stdout) as Record<string, number>;
  assert.deepEqual([summary["read"], summary["changed"], summary["rejected"]], [lines, 0, 0]);
  assert.ok((summary["unchanged"] ?? 0) > 0 && (summary["new"] ?? 0) > 0, "the kills came during the import");
  const [repeated, expected] = [await here.run(["export"]), await here.run(["export"], undisturbed)];
  assert.ok(repeated.stdout === expected.stdout, "the export differs from that of an undisturbed import");
}
