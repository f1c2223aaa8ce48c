// Concurrent requests from a separate process: wrk if it is installed, else autocannon.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "../bench.ts";
import type { Contestant } from "../contestants/contestant.ts";
import { output, runProgram } from "../processes.ts";

export type Load = { readonly requests: number; readonly p50: number; readonly p99: number; readonly failed: number };

const CONNECTIONS = 32;
const AUTOCANNON = fileURLToPath(new URL("../programs/autocannon.ts", import.meta.url));

const wrkVersion = /^wrk (\S+)/.exec(spawnSync("wrk", ["-v"]).stdout?.toString() ?? "")?.[1];
export const TOOL = `${wrkVersion === undefined ? "autocannon" : `wrk ${wrkVersion}`}, ${CONNECTIONS} connections`;

/** Requests the paths in turn, on all connections. */
export async function load(contestant: Contestant, paths: readonly string[], seconds: number): Promise<Load> {
  const request = { url: contestant.url, headers: contestant.headers, paths, seconds, connections: CONNECTIONS };
  const result = wrkVersion === undefined ? await runProgram<Load>(AUTOCANNON, [asFile(request)]) : await withWrk(request);
  if (result.failed > 0) throw new Error(`${result.failed} requests to ${contestant.name} failed`);
  if (result.requests === 0) throw new Error(`${contestant.name} responded to nothing in ${seconds} s`);
  return result;
}

export type LoadRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly paths: readonly string[];
  readonly seconds: number;
  readonly connections: number;
};

function asFile(request: LoadRequest): string {
  const file = join(cacheFolder("load"), `${process.pid}.json`);
  writeFileSync(file, JSON.stringify(request));
  return file;
}

async function withWrk({ url, headers, paths, seconds, connections }: LoadRequest): Promise<Load> {
  const script = join(cacheFolder("load"), `${process.pid}.lua`);
  writeFileSync(
    script,
    `local paths = {${paths.map((path) => JSON.stringify(path)).join(",")}}
local i = 0
request = function() i = i % #paths + 1; return wrk.format("GET", paths[i]) end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('{"requests":%f,"p50":%f,"p99":%f,"failed":%d}\\n', summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, e.connect + e.read + e.write + e.status + e.timeout))
end`,
  );
  const head = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const printed = await output("wrk", [
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    "--timeout",
    "30s",
    "-s",
    script,
    ...head,
    url,
  ]);
  return JSON.parse(printed.trim().split("\n").at(-1) ?? "") as Load;
}
