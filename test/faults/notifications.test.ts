// kill -9 of a service that is sending webhooks: every event arrives, always with the same id, and never twice at a time.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { seeded } from "../../src/simulate/random.ts";
import { createKey, customer, importLines, tank } from "../e2e/fixtures.ts";
import { type Service, type Workspace, workspace } from "../e2e/program.ts";
import { freePort } from "../support/free-port.ts";
import type { Lifetime } from "../support/service.ts";
import { sqlOn } from "../support/sql.ts";
import { until } from "../support/until.ts";
import { POSTGRES, SEED, SQLITE } from "./scenario.ts";
import { endDelays, endLeases } from "./waits.ts";

const TANKS = Array.from({ length: 12 }, (_, i) => `t${i}`);
const KILLS = 2;

/** Verifies webhooks with the secret, once it is known. Some it answers late, some with an error. */
async function startReceiver(life: Lifetime, random: () => number) {
  const receiver = {
    url: "",
    secret: "",
    /** The ids of the webhooks with each event, by its sequence number. */
    ids: new Map<number, Set<string>>(),
    open: new Set<string>(),
    errors: [] as string[],
  };
  const server = createServer(async (request, response) => {
    const id = String(request.headers["webhook-id"]);
    if (receiver.open.has(id)) receiver.errors.push(`${id} is sent twice at a time`);
    receiver.open.add(id);
    response.on("close", () => receiver.open.delete(id));
    // A killed sender may not have sent all of it.
    const body = await text(request).catch(() => "");
    if (body === "" || response.destroyed) return;
    try {
      const { sequence } = new Webhook(receiver.secret).verify(body, request.headers as Record<string, string>) as {
        sequence: number;
      };
      const ids = receiver.ids.get(sequence) ?? new Set();
      receiver.ids.set(sequence, ids.add(id));
    } catch (error) {
      receiver.errors.push(String(error));
    }
    await pause(random() * 30);
    response.writeHead(random() < 0.02 ? 500 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  life.after(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}

async function request(service: Service, key: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const headers = { "x-api-key": key, ...(body !== undefined && { "content-type": "application/json" }) };
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${service.url}${path}`, init);
  assert.ok(response.ok, `${path}: ${response.status}`);
  return (await response.json()) as Record<string, unknown>;
}

/** Readings of all tanks, low and full in turns: each is an event. Until the service is killed. */
async function sendReadings(service: Service, key: string, state: { round: number }): Promise<void> {
  for (;;) {
    const created_at = new Date().toISOString();
    const fill_percentage = state.round % 2 === 0 ? 5 : 90;
    const readings = TANKS.map((tank_id) => ({ tank_id, created_at, fill_percentage }));
    try {
      await request(service, key, "/ingest/v1/readings", readings);
    } catch {
      return;
    }
    state.round++;
    await pause(20);
  }
}

async function allEvents(service: Service, key: string): Promise<number[]> {
  const sequences: number[] = [];
  for (;;) {
    const { data } = await request(service, key, `/insight/v1/events?after=${sequences.at(-1) ?? 0}&size=100`);
    const page = (data as { sequence: number }[]).map(({ sequence }) => sequence);
    if (page.length === 0) return sequences;
    sequences.push(...page);
  }
}

type Start = () => Promise<Service>;

function starter(here: Workspace, port: number): Start {
  return () => here.start(["serve", "--port", String(port)]);
}

for (const { engine, processes } of [
  { engine: SQLITE, processes: 1 },
  { engine: POSTGRES, processes: 2 },
]) {
  test(`${engine.name}, ${processes} processes: kill -9 while webhooks are sent loses none, seed ${SEED}`, async (t) => {
    const random = seeded(`${SEED} ${engine.name}`);
    const { url, life } = await engine.open(t);
    const here = workspace(life, { DATABASE_URL: url, RATE_LIMIT: "0", WEBHOOK_ALLOW: "127.0.0.1" });
    await importLines(here, [customer("c"), ...TANKS.map((id) => tank(id, "c"))]);
    const key = await createKey(here, "--role", "manage");
    const sql = await sqlOn(life, url.startsWith("sqlite:") ? `sqlite:${here.path("tanks.db")}` : url);
    const receiver = await startReceiver(life, () => random.next());
    const starts = await Promise.all(Array.from({ length: processes }, async () => starter(here, await freePort())));
    const services = await Promise.all(starts.map((start) => start()));
    const first = services[0] as Service;
    const { secret } = await request(first, key, "/manage/v1/channels", { type: "webhook", url: receiver.url });
    receiver.secret = String(secret);
    const state = { round: 0 };
    for (let kill = 0; kill < KILLS; kill++) {
      const victim = kill % processes;
      const service = services[victim] as Service;
      const sending = sendReadings(service, key, state);
      const before = receiver.ids.size;
      await until("webhooks", () => receiver.ids.size > before + 20, 30_000);
      await pause(random.next() * 100);
      service.kill("SIGKILL");
      await Promise.all([service.exited, sending]);
      services[victim] = await (starts[victim] as Start)();
    }
    // Nobody sends while the leases of the killed ones are ended.
    for (const running of services) assert.equal((await running.stop()).code, 0);
    await endLeases(sql);
    services.splice(0, processes, ...(await Promise.all(starts.map((start) => start()))));
    const service = services[0] as Service;
    const events = await allEvents(service, key);
    assert.ok(events.length >= 40, `${events.length} events`);
    await until(
      "all are delivered",
      async () => {
        await endDelays(sql);
        await pause(200);
        return (await sql("SELECT id FROM notification WHERE state <> 'delivered' LIMIT 1")).length === 0;
      },
      60_000,
    );
    assert.deepEqual(receiver.errors, []);
    assert.deepEqual(
      [...receiver.ids.keys()].sort((a, b) => a - b),
      events,
    );
    const several = [...receiver.ids].filter(([, ids]) => ids.size > 1);
    assert.deepEqual(several, [], "an event always has the same webhook-id");
    for (const running of services) assert.equal((await running.stop()).code, 0);
  });
}
