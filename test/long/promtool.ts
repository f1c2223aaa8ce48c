// Prometheus' own check of the metrics, where it is installed (Debian: prometheus).

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { request } from "../http/client.ts";
import { startFleet } from "../http/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const skip = spawnSync("promtool", ["--version"]).error === undefined ? false : "promtool is not installed";

test("promtool check metrics finds nothing", { skip }, async (t) => {
  const fleet = await startFleet(t);
  for (const path of ["/v1/tanks", "/v1/nothing", "/insight/v1/fleet"]) await request(fleet, path, { key: fleet.operator });
  const { text } = await request(fleet, "/metrics", { key: await fleet.key({ role: "metrics" }) });
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  assert.deepEqual([status, stdout, stderr], [0, "", ""]);
});

test("promtool check rules accepts the alert rules of docs/operations.md", { skip }, (t) => {
  const text = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const blocks = Array.from(text.matchAll(/```yaml\n(.*?)```/gs), ([, block = ""]) => block).filter((block) =>
    /^groups:/.test(block),
  );
  assert.equal(blocks.length, 1);
  const [rules = ""] = blocks;
  const file = join(temporaryFolder(t), "rules.yml");
  writeFileSync(file, rules);
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", file], { encoding: "utf8" });
  assert.equal(status, 0, `${stdout}${stderr}`);
  assert.match(stdout, /SUCCESS: [1-9]\d* rules found/);
  const known = new Set(text.match(/tank_monitor_\w+/g));
  const used = rules.match(/tank_monitor_\w+/g) ?? [];
  const unknown = used.filter((name) => !known.has(name) || !text.includes(`\`${name.replace(/_count$/, "")}\``));
  assert.deepEqual(unknown, [], "rules use documented metrics");
});
