// autocannon.ts FILE: sends the load that the file describes, and prints the result as one line of JSON.

import { readFileSync } from "node:fs";
import autocannon from "autocannon";
import type { Load, LoadRequest } from "../measure/load.ts";

const load = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as LoadRequest;
const { requests, latency, non2xx, errors, timeouts } = await autocannon({
  url: load.url,
  connections: load.connections,
  duration: load.seconds,
  headers: load.headers,
  timeout: 30,
  requests: load.paths.map((path) => ({ path })),
});
const result: Load = { requests: requests.average, p50: latency.p50, p99: latency.p99, failed: non2xx + errors + timeouts };
console.log(JSON.stringify(result));
