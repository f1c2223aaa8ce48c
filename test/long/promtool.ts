// Prometheus' own check of the metrics, where it is installed (Debian: prometheus).

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { request } from "../http/client.ts";
import { startFleet } from "../http/services.ts";

const skip = spawnSync("promtool", ["--version"]).error === undefined ? false : "promtool is not installed";

test("promtool check metrics finds nothing", { skip }, async (t) => {
  const fleet = await startFleet(t);
  for (const path of ["/v1/tanks", "/v1/nothing", "/insight/v1/fleet"]) await request(fleet, path, { key: fleet.operator });
  const { text } = await request(fleet, "/metrics", { key: await fleet.key({ role: "metrics" }) });
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  assert.deepEqual([status, stdout, stderr], [0, "", ""]);
});
