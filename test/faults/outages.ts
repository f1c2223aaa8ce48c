// The database cannot be written for a while: nothing is acknowledged meanwhile, memory does not grow, and the service recovers by
// itself.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { Client } from "pg";
import { createKey } from "../e2e/fixtures.ts";
import type { Service } from "../e2e/program.ts";
import { get, statusOf } from "../e2e/requests.ts";
import { Mqtt5Broker } from "../support/mqtt5-broker.ts";
import type { StopMode } from "../support/postgres/cluster.ts";
import { changeOwner, serverUser } from "../support/postgres/programs.ts";
import { ownPostgres } from "../support/postgres/server.ts";
import { until } from "../support/until.ts";
import { type DiskKind, mountSmallDisk } from "./disks.ts";
import { CUSTOMER } from "./fleet.ts";
import { type LoadSize, type Scenario, startScenario } from "./scenario.ts";
import { publishTo } from "./senders.ts";

/** Resident memory in megabytes. */
function memoryOf(pid: number): number {
  const kilobytes =
    process.platform === "linux"
      ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
      : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return Number(kilobytes) / 1024;
}

type Outage = {
  /** `pid` is the process of the service. */
  readonly begin: (pid: number) => unknown;
  readonly end: (pid: number) => unknown;
  /** Whether stored readings can still be read. */
  readonly canRead: boolean;
  /** At least. */
  readonly seconds: number;
  /** What the log calls it: `writes_unavailable`, `writes_recovered`. */
  readonly event: "store" | "writes";
};

const ACKNOWLEDGED = 1000;
/** That the service subscribes to. */
const TOPICS = 3;
/** 503 responses in a row after which nothing sent before can still be stored. */
const SETTLED = 50;
const SETTLED_MS = 30_000;
const RECOVERY_MS = 10_000;
/** Readings in a message, and messages after which the memory has the size it needs. */
const LARGE = 5000;
const WARM_UP = 20;
/** Little room for garbage, so that growth is a leak. */
const SMALL_HEAP = "--max-old-space-size=96";
/** A line of the log that warns, or reports an error. */
const PROBLEM = /^\{"level":[45]0,.*"event":"(?!request"|mqtt_client_rejected")(\w+)"/gm;
/** What garbage may add. */
const GARBAGE_MB = 32;

async function surviveOutage(t: TestContext, scenario: Scenario, outage: Outage): Promise<void> {
  const { ledger, failures } = scenario;
  const broker = await new Mqtt5Broker().listen(t);
  const customerKey = await createKey(scenario.here, "--customer", CUSTOMER);
  const service = await scenario.start({ MQTT_URL: `mqtt://127.0.0.1:${broker.port}`, NODE_OPTIONS: SMALL_HEAP });
  await until("the service has subscribed", () => broker.subscribed.length === TOPICS, SETTLED_MS);
  const stopSending = await scenario.send(service);
  const stopPublishing = publishTo(t, broker, scenario);
  await ledger.untilAcknowledged(ACKNOWLEDGED);
  // When the customer was last seen cannot be written during the outage.
  assert.equal(await statusOf(service, customerKey), 200);
  await outage.begin(service.pid);
  await untilSettled(scenario);

  const since = ledger.now;
  const { unavailable, broken } = failures;
  await expectRejected(scenario, service, outage);
  const early = await sendLarge(scenario, service, WARM_UP, 0);
  const late = await sendLarge(scenario, service, WARM_UP * 2, outage.seconds);
  assert.equal(ledger.acknowledgedNewSince(since), 0, "nothing new is acknowledged meanwhile");
  assert.ok(failures.unavailable > unavailable && failures.broken > broken, "though HTTP and MQTT senders have tried");
  t.diagnostic(
    `${failures.unavailable - unavailable} requests rejected; at most ${Math.round(early)} MB, then ${Math.round(late)} MB`,
  );
  assert.ok(late < early + GARBAGE_MB, `${late} MB instead of ${early}`);

  await outage.end(service.pid);
  const sendLast = scenario.message(1);
  await until("readings are accepted again", async () => (await sendLast(service)).status === 200, RECOVERY_MS);
  await ledger.untilAcknowledged(ACKNOWLEDGED);
  await Promise.all([stopSending(), stopPublishing()]);
  ledger.settle();
  await scenario.expectAllStored(service);
  const { code, stderr } = await service.stop();
  assert.equal(code, 0, "the process is still the first one");
  // Requests and MQTT clients that are rejected have a line each.
  const problems = [...stderr.matchAll(PROBLEM)].map(([, event]) => event);
  assert.equal(new Set(problems).size, problems.length, `a problem is logged once: ${problems}`);
  assert.ok(!stderr.includes('"stack":'), "an outage is no internal error");
  const events = [...stderr.matchAll(/"event":"((?:store|writes)_(?:unavailable|recovered))"/g)].map(([, event]) => event);
  assert.ok(
    events.includes(`${outage.event}_unavailable`) &&
      events.at(-1)?.endsWith("_recovered") &&
      new Set(events).size === events.length,
    String(events),
  );
}

async function untilSettled({ ledger, failures }: Scenario): Promise<void> {
  let changes = ledger.changes;
  let since = failures.unavailable;
  await until(
    "everything is rejected",
    () => {
      if (ledger.changes === changes) return failures.unavailable > since + SETTLED;
      changes = ledger.changes;
      since = failures.unavailable;
      return false;
    },
    SETTLED_MS,
  );
}

async function expectRejected(scenario: Scenario, service: Service, { canRead }: Outage): Promise<void> {
  const { status, headers, text } = await scenario.message(1)(service);
  assert.equal(status, 503, text);
  assert.equal(headers.get("retry-after"), "1");
  assert.equal((JSON.parse(text) as { readonly code: string }).code, "store_unavailable");
  assert.equal((await get(service, "/v1/tanks", scenario.manageKey)).status, canRead ? 200 : 503);
  assert.equal((await get(service, "/readyz")).status, canRead ? 200 : 503);
  assert.equal((await get(service, "/healthz")).status, 200);
}

/** Large messages, each rejected, beside what the senders do. Resolves with the peak memory of the service. */
async function sendLarge(scenario: Scenario, service: Service, times: number, seconds: number): Promise<number> {
  const send = scenario.message(LARGE);
  const begun = performance.now();
  let max = 0;
  for (let sent = 0; sent < times || performance.now() - begun < seconds * 1000; sent++) {
    assert.equal((await send(service)).status, 503);
    max = Math.max(max, memoryOf(service.pid));
  }
  return max;
}

export async function surviveFullDisk(
  t: TestContext,
  kind: DiskKind,
  seed: string,
  seconds: number,
  load?: LoadSize,
): Promise<void> {
  const { databaseUrl: url, fill: begin, free: end } = await kind.open(t);
  const scenario = await startScenario(t, { name: kind.name, open: async () => ({ url, life: t }) }, seed, load);
  await surviveOutage(t, scenario, { begin, end, canRead: true, seconds, event: "writes" });
}

export async function survivePostgresOutage(
  t: TestContext,
  mode: StopMode,
  seed: string,
  seconds: number,
  load?: LoadSize,
): Promise<void> {
  const server = await ownPostgres(t);
  const scenario = await startScenario(t, { name: "PostgreSQL", open: async () => ({ url: server.url, life: t }) }, seed, load);
  const [begin, end] = [() => server.stop(mode), () => server.start()];
  await surviveOutage(t, scenario, { begin, end, canRead: false, seconds, event: "store" });
}

/** The log of a PostgreSQL server is on a disk of its own, which is full: the server stops. */
export async function survivePostgresFullLog(t: TestContext, seed: string, seconds: number): Promise<void> {
  const server = await ownPostgres(t);
  async function configure(settings: Readonly<Record<string, string>>): Promise<string> {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    for (const [name, value] of Object.entries(settings)) await client.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    await client.query("SELECT pg_reload_conf()");
    const { rows } = await client.query<{ data_directory: string }>("SHOW data_directory");
    await client.end();
    return rows[0]?.data_directory ?? "";
  }
  const data = await configure({ min_wal_size: "2MB", max_wal_size: "4MB" });
  await server.stop("fast");
  // Beside the data: the user of the server cannot reach the temporary folder of the tests.
  const disk = await mountSmallDisk(t, dirname(data));
  const [log, moved] = [join(data, "pg_wal"), join(disk.folder, "pg_wal")];
  cpSync(log, moved, { recursive: true });
  rmSync(log, { recursive: true });
  symlinkSync(moved, log);
  changeOwner(serverUser(), disk.folder);
  await server.start();
  const scenario = await startScenario(t, { name: "PostgreSQL", open: async () => ({ url: server.url, life: t }) }, seed);
  /** Segments of the log that are no longer needed are kept instead of used again. */
  async function begin(): Promise<void> {
    await configure({ wal_keep_size: "1GB" });
    disk.fill();
  }
  async function end(): Promise<void> {
    disk.free();
    await server.stop("kill");
    await server.start();
    await configure({ wal_keep_size: "0" });
  }
  await surviveOutage(t, scenario, { begin, end, canRead: false, seconds, event: "store" });
}
