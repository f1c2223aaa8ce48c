import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { LineLimiter, OutageLog, openLogOutput } from "../../src/observe/log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const numbered = (count: number, text = ""): string[] => Array.from({ length: count }, (_, i) => `${i}${text}\n`);

const REJECTED = { kind: "readings_rejected", endpoint: "mqtt", keyId: null, count: 1 };

/** A line without its end, of 1 KiB. */
const LONG = "x".repeat(1024);

suite("log output", () => {
  test("writes lines in order, and on close whatever is pending", async (t) => {
    const file = join(temporaryFolder(t), "log");
    const output = openLogOutput(openSync(file, "w"));
    const lines = numbered(1000);
    for (const line of lines) output.write(line);
    await output.close();
    output.write("too late\n");
    assert.equal(readFileSync(file, "utf8"), lines.join(""));
  });

  test("keeps lines while the descriptor fails, drops and counts what exceeds the buffer, and recovers", async (t) => {
    const file = join(temporaryFolder(t), "log");
    writeFileSync(file, "");
    const unwritable = openSync(file, "r");
    const output = openLogOutput(unwritable);
    const lines = numbered(5000, LONG);
    for (const line of lines) output.write(line);
    closeSync(unwritable);
    const writable = openSync(file, "w");
    assert.equal(writable, unwritable, "the system reuses the lowest free descriptor");
    let total = lines.length;
    await until("the count is logged", () => {
      output.write(`${total++}\n`);
      return readFileSync(file, "utf8").includes("log_lines_dropped");
    });
    await output.close();
    const written = readFileSync(file, "utf8").trimEnd().split("\n");
    const report = JSON.parse(written.find((line) => line.startsWith("{")) ?? "{}") as { lines: number };
    const kept = written.filter((line) => !line.startsWith("{"));
    assert.ok(kept.length > 4000, `${kept.length} lines fit into the buffer`);
    assert.equal(kept.length + report.lines, total);
  });

  test("does not block while a pipe is full, and close gives up on one that nobody reads", async (t) => {
    const pipe = join(temporaryFolder(t), "pipe");
    execFileSync("mkfifo", [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const output = openLogOutput(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    const lines = numbered(200, LONG);
    for (const line of lines) output.write(line);
    const buffer = Buffer.alloc(65_536);
    let received = "";
    await until("all lines are received", () => {
      try {
        received += buffer.toString("utf8", 0, readSync(reader, buffer));
      } catch {
        // Nothing to read yet.
      }
      return received.length === lines.join("").length;
    });
    assert.equal(received, lines.join(""));
    for (const line of lines) output.write(line);
    const startedAt = performance.now();
    await output.close();
    const milliseconds = performance.now() - startedAt;
    assert.ok(milliseconds < 5000, `${milliseconds} ms`);
    closeSync(reader);
  });
});

/** What a process logs in which these events happen. */
function logOf(events: readonly object[]): string {
  const log = JSON.stringify(new URL("../../src/observe/log.ts", import.meta.url).href);
  const script = `import { openLog } from ${log}; const log = openLog("trace"); for (const event of ${JSON.stringify(events)}) log.observe(event); await log.close();`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }).stderr;
}

function eventsIn(log: string): string[] {
  const lines = log.trimEnd().split("\n");
  return lines.map((line) => (JSON.parse(line) as { readonly event: string }).event);
}

test("keys are masked in every field of every event", () => {
  const secret = "tm_0aZ0aZ0aZ0aZ0aZ0aZ0aZ0aZ0aZ0aZ0aZ0aZ";
  const request = {
    kind: "request_completed",
    requestId: `apikey=${secret}`,
    method: "GET",
    path: `/tanks/tm%5f${secret.slice(3)}`,
  };
  const events = [
    { ...request, route: null, status: 404, code: null, keyId: null, address: secret, milliseconds: 1 },
    { ...REJECTED, topic: `tanks/${secret}/readings`, device: secret, reason: `unknown field "${secret}"` },
    { kind: "request_failed", requestId: "r-1", error: `Error: ${secret}` },
  ];
  const stderr = logOf(events);
  assert.deepEqual(eventsIn(stderr), ["request", "readings_rejected", "request_failed"]);
  assert.equal(stderr.match(/tm_…/g)?.length, 7, stderr);
  assert.doesNotMatch(stderr, /0aZ/);
});

test("ten lines of one event are logged in ten seconds; the next one has the number of those suppressed", () => {
  const limiter = new LineLimiter();
  const admitted = Array.from({ length: 1000 }, (_, i) => limiter.admit("one", i));
  assert.deepEqual(admitted.slice(0, 10), Array(10).fill(0));
  assert.ok(admitted.slice(10).every((suppressed) => suppressed === undefined));
  assert.equal(limiter.admit("other", 1000), 0, "each event has its own limit");
  assert.equal(limiter.admit("one", 10_000), 990);
  assert.equal(limiter.admit("one", 10_001), 0);
});

test("internal errors that repeat are among these events", () => {
  const kinds = ["request_failed", "forecast_job_failed", "sweep_failed", "sending_failed", "sign_in_failed", "mqtt_failed"];
  const events = kinds.flatMap((kind) => Array.from({ length: 12 }, () => ({ kind, error: "Error: repeated" })));
  assert.deepEqual(
    eventsIn(logOf(events)),
    kinds.flatMap((kind) => Array<string>(10).fill(kind)),
  );
});

test("an outage that comes and goes is logged once, and its end once it has lasted ten seconds, or when the log is closed", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const logged: string[] = [];
  const outages = new OutageLog(({ kind }) => logged.push(kind));
  const unavailable = (kind: "store_unavailable" | "writes_unavailable") => outages.log({ kind, reason: "disk full" });
  for (let i = 0; i < 50; i++) {
    unavailable("writes_unavailable");
    t.mock.timers.tick(5000);
    outages.log({ kind: "writes_recovered" });
    t.mock.timers.tick(9999);
  }
  unavailable("store_unavailable");
  assert.deepEqual(logged, ["writes_unavailable", "store_unavailable"]);
  t.mock.timers.tick(1);
  assert.deepEqual(logged, ["writes_unavailable", "store_unavailable", "writes_recovered"]);
  unavailable("writes_unavailable");
  outages.log({ kind: "stopped" });
  outages.log({ kind: "store_recovered" });
  outages.close();
  assert.deepEqual(logged.slice(3), ["writes_unavailable", "stopped", "store_recovered"]);
  t.mock.timers.tick(20_000);
  assert.equal(logged.length, 6);
});
