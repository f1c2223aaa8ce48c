// npm run bench: where the service stands, as ratios measured side by side in one run.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { makeDataset, tankId } from "./dataset.ts";
import { CONNECTIONS, type Load, load, tool } from "./load.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CACHE = join(ROOT, ".cache", "bench");
const DATABASE = join(CACHE, "read.db");
const ROUNDS = Number(process.env["ROUNDS"] ?? 5);
const WARM_UP_SECONDS = 10;
const SECONDS = Number(process.env["SECONDS"] ?? 4);

type Server = { readonly url: string; readonly child: ChildProcess };

const environment = { ...process.env, DATABASE_URL: `sqlite:${DATABASE}`, PORT: "0" };
const program = join(ROOT, "bin", "tank-monitor.js");

mkdirSync(CACHE, { recursive: true });
await makeDataset(DATABASE);
const key = execFileSync(process.execPath, [program, "key", "create", "--name", "bench"], {
  env: environment,
  stdio: ["ignore", "pipe", "ignore"],
})
  .toString()
  .trim();

const service = await startService();
const body = await firstPage(service.url);
const bare = await startBare(body);
try {
  // The compiler has had its say after some tens of thousands of requests.
  await load(bare.url, key, WARM_UP_SECONDS);
  await load(service.url, key, WARM_UP_SECONDS);
  const rounds: { bare: Load; service: Load }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    rounds.push({ bare: await load(bare.url, key, SECONDS), service: await load(service.url, key, SECONDS) });
    console.error(
      `round ${i + 1}: bare ${rounds[i]?.bare.requests.toFixed()}, service ${rounds[i]?.service.requests.toFixed()} requests/s`,
    );
  }
  const memory = residentMegabytes(service.child.pid ?? 0);
  report(rounds, memory, await startTimes());
} finally {
  service.child.kill();
  bare.child.kill();
}

async function startService(): Promise<Server> {
  const log = openSync(join(CACHE, "service.log"), "w+");
  const child = spawn(process.execPath, [program, "serve"], { env: environment, stdio: ["ignore", "ignore", log] });
  for (;;) {
    const line = /"url":"(http[^"]+)"/.exec(readFileSync(join(CACHE, "service.log"), "utf8"));
    if (line?.[1] !== undefined) return { url: line[1], child };
    if (child.exitCode !== null) throw new Error("the service did not start; see .cache/bench/service.log");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function startBare(constant: string): Promise<Server> {
  const child = spawn(process.execPath, [join(ROOT, "bench", "bare.ts"), constant], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { url, child };
}

async function firstPage(url: string): Promise<string> {
  const answer = await fetch(`${url}/v1/tanks/${tankId(0)}/telemetry`, { headers: { "x-api-key": key } });
  if (answer.status !== 200) throw new Error(`the service answers ${answer.status}`);
  return answer.text();
}

/** From the start of the process to the first answer of the interface, on the large database. */
async function startTimes(): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const started = performance.now();
    const server = await startService();
    await firstPage(server.url);
    times.push(performance.now() - started);
    server.child.kill();
    await once(server.child, "exit");
  }
  return times;
}

function residentMegabytes(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return (Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024) / 1e6;
  } catch {
    return undefined;
  }
}

function report(rounds: readonly { bare: Load; service: Load }[], memory: number | undefined, starts: readonly number[]): void {
  const ratios = rounds.map(({ bare, service }) => service.requests / bare.requests);
  const rows = [
    ["first page of telemetry, as a share of bare Fastify (median of rounds)", median(ratios).toFixed(2), "≥ 0.60"],
    ["… lowest and highest round", `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`, ""],
    ["start to first answer, ms (median of 5)", median(starts).toFixed(0), "< 1000"],
    ["most memory under load, MB", memory?.toFixed(0) ?? "not measured here", "< 150"],
  ];
  const lines = ["| figure | measured | aim |", "|---|---|---|", ...rows.map((row) => `| ${row.join(" | ")} |`)];
  const raw = rounds.map(
    ({ bare, service }, i) =>
      `| ${i + 1} | ${bare.requests.toFixed()} | ${bare.p99.toFixed(1)} | ${service.requests.toFixed()} | ${service.p99.toFixed(1)} |`,
  );
  const text = `# Results

1,000 tanks with 10,000 readings each; page 1, 10 readings, ${Buffer.byteLength(body)} bytes; keys, validation, totals, ETag, metrics and the log
at \`info\` on; ${CONNECTIONS} connections, ${tool}; Node ${process.versions.node}, ${process.arch}. Made by \`npm run bench\`.

${lines.join("\n")}

| round | bare, requests/s | p99, ms | service, requests/s | p99, ms |
|---|---|---|---|---|
${raw.join("\n")}
`;
  writeFileSync(join(ROOT, "bench", "results.md"), text);
  console.log(text);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
