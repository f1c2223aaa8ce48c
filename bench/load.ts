// The load tool: wrk where it is installed, else autocannon from npm, in a process of its own, over all tanks.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { TANKS, tankId } from "./dataset.ts";

export type Load = { readonly requests: number; readonly p50: number; readonly p99: number; readonly failed: number };

export const CONNECTIONS = 32;
export const tool = spawnSync("wrk", ["-v"]).error === undefined ? "wrk" : "autocannon";
/** Every tank, in an order that jumps about. */
const paths = Array.from({ length: TANKS }, (_, i) => `/v1/tanks/${tankId((i * 7919) % TANKS)}/telemetry`);

export async function load(url: string, key: string, seconds: number): Promise<Load> {
  const result = tool === "wrk" ? await withWrk(url, key, seconds) : await withAutocannon(url, key, seconds);
  if (result.failed > 0) throw new Error(`${result.failed} requests failed at ${url}`);
  return result;
}

async function withWrk(url: string, key: string, seconds: number): Promise<Load> {
  const script = join(tmpdir(), `tank-monitor-bench-${process.pid}.lua`);
  writeFileSync(
    script,
    `local paths = {${paths.map((path) => `"${path}"`).join(",")}}
local i = 0
request = function() i = i % ${TANKS} + 1; return wrk.format("GET", paths[i]) end
done = function(summary, latency)
  local failed = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  io.write(string.format('{"requests":%f,"p50":%f,"p99":%f,"failed":%d}\\n', summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, failed))
end`,
  );
  const words = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, "-s", script, "-H", `X-API-Key: ${key}`, url];
  return lastLine(await output("wrk", words));
}

async function withAutocannon(url: string, key: string, seconds: number): Promise<Load> {
  return lastLine(await output(process.execPath, [fileURLToPath(import.meta.url), url, key, String(seconds)]));
}

async function output(command: string, words: readonly string[]): Promise<string> {
  const child = spawn(command, words, { stdio: ["ignore", "pipe", "inherit"] });
  const [printed] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return printed;
}

function lastLine(printed: string): Load {
  return JSON.parse(printed.trim().split("\n").at(-1) ?? "") as Load;
}

if (import.meta.main) {
  const { default: autocannon } = await import("autocannon");
  const [url = "", key = "", seconds = ""] = process.argv.slice(2);
  const requests = paths.map((path) => ({ path }));
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: Number(seconds),
    headers: { "x-api-key": key },
    requests,
  });
  const failed = result.non2xx + result.errors + result.timeouts;
  console.log(JSON.stringify({ requests: result.requests.average, p50: result.latency.p50, p99: result.latency.p99, failed }));
}
