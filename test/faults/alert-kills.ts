// SIGKILL at random moments while every reading opens or closes an alert and a receiver gets a webhook of each. Afterwards there
// is one event for every reading that was acknowledged, numbered without gaps, and the receiver has got all of them.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { type Random, seeded } from "../../src/simulate/random.ts";
import { createKey, customer, importLines, tank } from "../e2e/fixtures.ts";
import { type Service, type Workspace, workspace } from "../e2e/program.ts";
import { type Item, isRunning, item, list, workerPids } from "../e2e/requests.ts";
import { freePort } from "../support/free-port.ts";
import type { Lifetime } from "../support/service.ts";
import { sqlOn } from "../support/sql.ts";
import { until } from "../support/until.ts";
import { endDelays, endLeases } from "./due-times.ts";
import type { Engine } from "./scenario.ts";

export type AlertKills = {
  readonly engine: Engine;
  readonly seed: string;
  readonly times: number;
  /** Services on one database; on PostgreSQL only, more than one. */
  readonly services: number;
  readonly workers: 1 | 2;
};

const TANKS = 6;
const WEBHOOKS_BEFORE_KILL = 20;
const TIMEOUT_MS = 60_000;
const LOW = 10;
const FULL = 90;

type Received = { readonly id: string; readonly sequence: number };

export async function keepAlertsThroughKills(givenLife: Lifetime, kills: AlertKills): Promise<void> {
  const { engine, seed, times, services: count, workers } = kills;
  const { url, life } = await engine.open(givenLife);
  const random = seeded(seed);
  const receiver = await startReceiver(life, random);
  const here = workspace(life, { DATABASE_URL: url, RATE_LIMIT: "0", WEBHOOK_ALLOW: "127.0.0.1", WORKERS: String(workers) });
  const tankIds = Array.from({ length: TANKS }, (_, i) => `t${i}`);
  await importLines(here, [customer("ada"), ...tankIds.map((id) => tank(id, "ada"))]);
  const key = await createKey(here, "--role", "manage");
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const start = (i: number): Promise<Service> => here.start(["serve", "--port", String(ports[i])]);
  const services = await Promise.all(ports.map((_, i) => start(i)));
  receiver.secret = await createChannel(here, receiver.url);

  const acknowledged = new Map<string, number>();
  let isStopped = false;
  let isAbandoned = false;
  life.after(() => {
    isStopped = true;
    isAbandoned = true;
  });
  /** One reading at a time, each on the other side of the threshold, again until it is acknowledged. */
  async function send(tankId: string, port: number | undefined): Promise<void> {
    for (let sent = 0, at = Date.now() - 3_600_000; !isStopped; sent++, at += random.whole(1, 50)) {
      const reading = { tank_id: tankId, created_at: new Date(at).toISOString(), fill_percentage: sent % 2 === 0 ? LOW : FULL };
      const headers = { "x-api-key": key, "content-type": "application/json" };
      const post = () =>
        fetch(`http://127.0.0.1:${port}/ingest/v1/readings`, { method: "POST", headers, body: JSON.stringify([reading]) }).then(
          async (response) => (await response.text()) !== "" && response.status === 200,
          () => false,
        );
      while (!(await post())) {
        if (isAbandoned) return;
        await pause(20);
      }
      acknowledged.set(tankId, sent + 1);
      await pause(random.whole(0, 40));
    }
  }
  const sending = Promise.all(tankIds.map((id, i) => send(id, ports[i % count])));

  for (let kill = 0; kill < times; kill++) {
    // Every other kill may come before anything was sent.
    const wanted = receiver.received.length + (kill % 2 === 0 ? WEBHOOKS_BEFORE_KILL : 0);
    await until("webhooks arrive", () => receiver.received.length >= wanted, TIMEOUT_MS);
    await pause(random.whole(0, 1000));
    const i = random.whole(0, count - 1);
    const service = services[i] ?? assert.fail();
    const pids = [...workerPids(service).values()].filter(isRunning);
    // A worker, then the supervisor, then any.
    const isWorker = kill < 2 ? kill === 0 : random.chance(0.5);
    const victim = pids.length > 0 && isWorker ? random.pick(pids) : service.pid;
    process.kill(victim, "SIGKILL");
    if (victim !== service.pid) continue;
    await service.exited;
    // Workers without a supervisor stop by themselves.
    await until("the workers have exited", () => isRefused(service.url), TIMEOUT_MS);
    services[i] = await start(i);
  }
  isStopped = true;
  await sending;

  const sql = await sqlOn(life, url.startsWith("sqlite:") ? `sqlite:${here.path("tanks.db")}` : url);
  for (const running of services) assert.equal((await running.stop()).code, 0);
  await endLeases(sql);
  // One process is enough to deliver the rest.
  const service = await here.start(["serve"], { env: { WORKERS: "1" } });
  const events = await feed(service, key);
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, i) => i + 1),
  );
  for (const id of tankIds) {
    const types = events.filter(({ tankId }) => tankId === id).map(({ type }) => type);
    const expected = Array.from({ length: acknowledged.get(id) ?? 0 }, (_, i) => (i % 2 === 0 ? "alert.opened" : "alert.closed"));
    assert.deepEqual(types, expected, `transitions of ${id}`);
  }
  const isDelivered = async (): Promise<boolean> => {
    await endDelays(sql);
    return (await list(service, "/manage/v1/notifications?state=pending&size=1", key)).total_items === 0;
  };
  await until("all is delivered", isDelivered, TIMEOUT_MS);
  const { total_items } = await list(service, "/manage/v1/notifications?size=1", key);
  assert.equal(total_items, events.length, "one notification for each event");
  const idsBySequence = Map.groupBy(receiver.received, ({ sequence }) => sequence);
  assert.deepEqual(
    [...idsBySequence.keys()].sort((a, b) => a - b),
    events.map(({ sequence }) => sequence),
  );
  for (const [sequence, got] of idsBySequence) assert.equal(new Set(got.map(({ id }) => id)).size, 1, `ids of event ${sequence}`);
  assert.deepEqual(receiver.errors, []);
  const opened = await list(service, "/insight/v1/alerts?size=1", key);
  assert.equal(opened.total_items, events.filter(({ type }) => type === "alert.opened").length);
  const { code, stdout } = await here.run(["check"]);
  assert.equal(code, 0, stdout);
}

/** Nobody listens there any more. */
const isRefused = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    () => false,
    (error: Error) => (error.cause as { readonly code?: string }).code === "ECONNREFUSED",
  );

/** Returns the secret that webhooks are signed with. */
async function createChannel(here: Workspace, url: string): Promise<string> {
  const { code, stdout, stderr } = await here.run(["channel", "create", "--webhook", url]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

/** Verifies webhooks with the secret. Slow now and then, so that attempts are under way when a process is killed. */
async function startReceiver(life: Lifetime, random: Random) {
  const receiver = { url: "", secret: "", received: [] as Received[], errors: [] as string[] };
  const open = new Set<string>();
  const server = createServer(async (request, response) => {
    const id = String(request.headers["webhook-id"]);
    if (open.has(id)) receiver.errors.push(`${id} is sent twice at the same time`);
    open.add(id);
    // A killed process closes its connections: what it was sending is not under way any more.
    response.on("close", () => open.delete(id));
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const isFirst = !receiver.received.some((one) => one.id === id);
    try {
      const { sequence } = new Webhook(receiver.secret).verify(body, request.headers as Record<string, string>) as Received;
      receiver.received.push({ id, sequence });
    } catch (error) {
      receiver.errors.push(`${id}: ${error}`);
    }
    await pause(random.chance(0.2) ? random.whole(0, 200) : 0);
    // Only once: the third attempt would come minutes later.
    response.writeHead(isFirst && random.chance(0.05) ? 500 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  life.after(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return receiver;
}

type FeedEvent = { readonly sequence: number; readonly type: string; readonly tankId: string };

async function feed(service: Service, key: string): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let after = 0, hasMore = true; hasMore; ) {
    const page = await item(service, `/insight/v1/events?after=${after}&size=100`, key);
    for (const event of page["data"] as Item[]) {
      const { tank } = event["data"] as { readonly tank: Item };
      events.push({ sequence: Number(event["sequence"]), type: String(event["type"]), tankId: String(tank["id"]) });
    }
    after = Number(page["next_after"]);
    hasMore = page["has_more"] === true;
  }
  return events;
}
