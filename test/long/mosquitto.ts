// Foreign clients and a foreign broker: Mosquitto's, where they are installed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import test, { type TestContext } from "node:test";
import mqtt from "mqtt";
import type { LogEvent } from "../../src/domain/log-events.ts";
import { ExternalBroker } from "../../src/ingest/mqtt/external-broker.ts";
import { eventsOf, range, reading, sleep, startEndpoint } from "../ingest/mqtt/endpoint.ts";
import { FakeIngest, unavailable } from "../ingest/mqtt/fake-ingest.ts";
import { type Mosquitto, startMosquitto, withoutMosquitto } from "../support/mosquitto.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";

const skip = withoutMosquitto;

function subscribe(t: TestContext, url: string, clientId = "tank-monitor-0") {
  const ingest = new FakeIngest();
  const events: LogEvent[] = [];
  const external = new ExternalBroker({
    url,
    identity: { clientId, isPersistent: true, isFirst: true },
    ingest: ingest.handle,
    observe: (event) => events.push(event),
    clock: Date.now,
    limits: { minReconnectMs: 50, maxReconnectMs: 200 },
  });
  external.start();
  t.after(() => external.stop());
  ingest.delayMs = 2;
  return { external, ingest, events };
}

const MESSAGES = 20_000;
/** Every message has its own fill. */
const FILLS = range(MESSAGES).map((id) => id / 1000);

/** Publishes all of them, a hundred at a time, interrupted twice. */
async function publishAll(t: TestContext, { url }: Mosquitto, interrupt: (i: number) => Promise<void>): Promise<void> {
  const publisher = mqtt.connect(url, { clean: false, clientId: "gateway", reconnectPeriod: 100 });
  publisher.on("error", () => {});
  t.after(() => publisher.end(true));
  let interruptions = Promise.resolve();
  for (let at = 0; at < MESSAGES; at += 100) {
    if (at === MESSAGES / 4) interruptions = interrupt(0);
    if (at === MESSAGES / 2) interruptions = interruptions.then(() => interrupt(1));
    const hundred = FILLS.slice(at, at + 100);
    await Promise.all(hundred.map((fill, i) => publisher.publishAsync(`tanks/d${i}/readings`, reading(fill), { qos: 1 })));
  }
  await interruptions;
}

async function expectAllStored(...ingests: FakeIngest[]): Promise<void> {
  const stored = () => new Set(ingests.flatMap(({ fills }) => fills));
  await until("all are stored", () => stored().size === MESSAGES, 60_000);
  assert.deepEqual(new Set(FILLS).difference(stored()), new Set());
  const calls = ingests.reduce((sum, ingest) => sum + ingest.calls.length, 0);
  assert.ok(calls < MESSAGES / 4, `${calls} calls`);
}

test("two processes share what Mosquitto has, through broken connections and a store that goes away", { skip }, async (t) => {
  const mosquitto = await startMosquitto(t);
  const proxy = await tcpProxy(t, mosquitto.url);
  const both = ["tank-monitor-0", "tank-monitor-1"].map((clientId) => subscribe(t, proxy.url, clientId));
  await until("both are connected", () => both.every((one) => eventsOf(one, "broker_connected").length > 0));
  const ingests = both.map(({ ingest }) => ingest);
  await publishAll(t, mosquitto, async (i) => {
    const ingest = ingests[i];
    assert.ok(ingest);
    ingest.failWith = unavailable;
    for (const _ of range(5)) {
      await sleep(100);
      proxy.disconnect();
    }
    await sleep(500);
    ingest.failWith = () => undefined;
  });
  await expectAllStored(...ingests);
  assert.ok(ingests.every(({ stored }) => stored.length > MESSAGES / 10));
});

test("one process that shares with nobody loses nothing while Mosquitto restarts", { skip }, async (t) => {
  const mosquitto = await startMosquitto(t);
  const subscriber = subscribe(t, `${mosquitto.url}?shared=no`);
  await until("it is connected", () => eventsOf(subscriber, "broker_connected").length > 0);
  await publishAll(t, mosquitto, async () => {
    subscriber.ingest.failWith = unavailable;
    await mosquitto.stop();
    await sleep(300);
    await mosquitto.start();
    await sleep(500);
    subscriber.ingest.failWith = () => undefined;
  });
  await expectAllStored(subscriber.ingest);
});

test("what Mosquitto has kept for a process that was killed comes when it is back", { skip }, async (t) => {
  const mosquitto = await startMosquitto(t);
  const first = subscribe(t, mosquitto.url);
  await until("it is connected", () => eventsOf(first, "broker_connected").length > 0);
  first.ingest.failWith = unavailable;
  const publisher = await mqtt.connectAsync(mosquitto.url);
  t.after(() => publisher.end(true));
  await Promise.all(range(50).map((fill) => publisher.publishAsync("tanks/d1/readings", reading(fill), { qos: 1 })));
  await until("the store was called", () => first.ingest.calls.length > 0);
  await first.external.stop();
  assert.deepEqual(first.ingest.stored, []);
  const second = subscribe(t, mosquitto.url);
  await until("all are stored", () => second.ingest.stored.length >= 50);
  assert.deepEqual(new Set(second.ingest.fills), new Set(range(50)));
});

test("Mosquitto's own clients publish to the endpoint, and are rejected where they may not", { skip }, async (t) => {
  const endpoint = await startEndpoint(t);
  const run = async (program: string, ...words: string[]) => {
    const child = spawn(program, ["-h", "127.0.0.1", "-p", String(endpoint.port), "-u", "any", ...words], {
      stdio: ["pipe", "ignore", "pipe"],
    });
    let output = "";
    child.stderr.on("data", (text) => {
      output += text;
    });
    const lines = words.includes("-l") ? range(1000).map((i) => reading(i / 10)) : [];
    child.stdin.end(lines.map((line) => `${line}\n`).join(""));
    const [code] = await once(child, "exit");
    return { code, output };
  };
  for (const qos of ["0", "1", "2"]) {
    const message = ["-q", qos, "-t", "tanks/d1/readings", "-m", reading(Number(qos))];
    const { code, output } = await run("mosquitto_pub", "-P", "good", ...message);
    assert.equal(code, 0, output);
  }
  await until("all are stored", () => endpoint.ingest.stored.length === 3);
  assert.deepEqual(endpoint.ingest.fills, [0, 1, 2]);
  assert.equal((await run("mosquitto_pub", "-P", "good", "-q", "1", "-t", "tanks/d1/readings", "-l")).code, 0);
  await until("all are stored", () => endpoint.ingest.stored.length === 1003);
  const wrong = await run("mosquitto_pub", "-P", "bad", "-q", "1", "-t", "tanks/d1/readings", "-m", reading(1));
  assert.match(wrong.output, /bad user name or password|not authori[sz]ed/i);
  const listener = await run("mosquitto_sub", "-P", "good", "-t", "#", "-W", "2");
  assert.match(listener.output, /denied/i);
  const newer = await run("mosquitto_pub", "-V", "5", "-P", "good", "-t", "tanks/d1/readings", "-m", reading(1));
  assert.equal(newer.code, 0, newer.output);
});
