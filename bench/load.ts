// The load tool: autocannon from npm, in a process of its own, over all tanks. Prints requests a second and latencies.

import autocannon from "autocannon";
import { TANKS, tankId } from "./dataset.ts";

const [url = "", key = "", seconds = "5"] = process.argv.slice(2);
const result = await autocannon({
  url,
  connections: 32,
  duration: Number(seconds),
  headers: { "x-api-key": key },
  requests: Array.from({ length: TANKS }, (_, i) => ({ path: `/v1/tanks/${tankId((i * 7919) % TANKS)}/telemetry` })),
});
const failed = result.non2xx + result.errors + result.timeouts;
console.log(JSON.stringify({ requests: result.requests.average, p50: result.latency.p50, p99: result.latency.p99, failed }));
