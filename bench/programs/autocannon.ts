// autocannon.ts FILE: asks what the file says, and prints how it went as one line of JSON.

import { readFileSync } from "node:fs";
import autocannon from "autocannon";
import type { Load, LoadQuestion } from "../measure/load.ts";

const question = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as LoadQuestion;
const { requests, latency, non2xx, errors, timeouts } = await autocannon({
  url: question.url,
  connections: question.connections,
  duration: question.seconds,
  headers: question.headers,
  timeout: 30,
  requests: question.paths.map((path) => ({ path })),
});
const result: Load = { requests: requests.average, p50: latency.p50, p99: latency.p99, failed: non2xx + errors + timeouts };
console.log(JSON.stringify(result));
