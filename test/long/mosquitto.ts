// Foreign clients and a foreign broker: Mosquitto's, where they are installed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import test, { type TestContext } from "node:test";
import mqtt from "mqtt";
import type { Event } from "../../src/domain/events.ts";
import { Subscriber } from "../../src/ingest/mqtt/subscriber.ts";
import { later, range, reading, startBroker, told } from "../ingest/mqtt/embedded.ts";
import { away, Shelf } from "../ingest/mqtt/shelf.ts";
import { type Mosquitto, startMosquitto, withoutMosquitto } from "../support/mosquitto.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";

const skip = withoutMosquitto;

function subscribe(t: TestContext, url: string, clientId = "tank-monitor-0") {
  const shelf = new Shelf();
  const events: Event[] = [];
  const subscriber = new Subscriber({
    url,
    identity: { clientId, isLasting: true },
    accept: shelf.accept,
    observe: (event) => events.push(event),
    clock: Date.now,
    bounds: { pauseMs: 50, longestPauseMs: 200 },
  });
  subscriber.start();
  t.after(() => subscriber.stop());
  shelf.delayMs = 2;
  return { subscriber, shelf, events };
}

const MESSAGES = 20_000;
/** Every message is told from the others by its fill. */
const FILLS = range(MESSAGES).map((id) => id / 1000);

/** Publishes all of them, a hundred at a time, with something going wrong twice on the way. */
async function publishAll(t: TestContext, { url }: Mosquitto, fault: (i: number) => Promise<void>): Promise<void> {
  const publisher = mqtt.connect(url, { clean: false, clientId: "gateway", reconnectPeriod: 100 });
  publisher.on("error", () => {});
  t.after(() => publisher.end(true));
  let faults = Promise.resolve();
  for (let at = 0; at < MESSAGES; at += 100) {
    if (at === MESSAGES / 4) faults = fault(0);
    if (at === MESSAGES / 2) faults = faults.then(() => fault(1));
    const hundred = FILLS.slice(at, at + 100);
    await Promise.all(hundred.map((fill, i) => publisher.publishAsync(`tanks/d${i}/readings`, reading(fill), { qos: 1 })));
  }
  await faults;
}

async function expectAllStored(...shelves: Shelf[]): Promise<void> {
  const stored = () => new Set(shelves.flatMap(({ fills }) => fills));
  await until("all are stored", () => stored().size === MESSAGES, 60_000);
  assert.deepEqual(new Set(FILLS).difference(stored()), new Set());
  const calls = shelves.reduce((sum, shelf) => sum + shelf.calls.length, 0);
  assert.ok(calls < MESSAGES / 4, `${calls} calls`);
}

test("two processes share what Mosquitto has, through broken connections and a store that goes away", { skip }, async (t) => {
  const mosquitto = await startMosquitto(t);
  const proxy = await tcpProxy(t, mosquitto.url);
  const both = ["tank-monitor-0", "tank-monitor-1"].map((clientId) => subscribe(t, proxy.url, clientId));
  await until("both are connected", () => both.every((made) => told(made, "broker_connected").length > 0));
  const shelves = both.map(({ shelf }) => shelf);
  await publishAll(t, mosquitto, async (i) => {
    const shelf = shelves[i];
    assert.ok(shelf);
    shelf.fault = away;
    for (const _ of range(5)) {
      await later(100);
      proxy.disconnect();
    }
    await later(500);
    shelf.fault = () => undefined;
  });
  await expectAllStored(...shelves);
  assert.ok(shelves.every(({ stored }) => stored.length > MESSAGES / 10));
});

test("one process that shares with nobody loses nothing while Mosquitto restarts", { skip }, async (t) => {
  const mosquitto = await startMosquitto(t);
  const made = subscribe(t, `${mosquitto.url}?shared=no`);
  await until("it is connected", () => told(made, "broker_connected").length > 0);
  await publishAll(t, mosquitto, async () => {
    made.shelf.fault = away;
    await mosquitto.stop();
    await later(300);
    await mosquitto.start();
    await later(500);
    made.shelf.fault = () => undefined;
  });
  await expectAllStored(made.shelf);
});

test("what Mosquitto has kept for a process that was killed comes when it is back", { skip }, async (t) => {
  const mosquitto = await startMosquitto(t);
  const first = subscribe(t, mosquitto.url);
  await until("it is connected", () => told(first, "broker_connected").length > 0);
  first.shelf.fault = away;
  const publisher = await mqtt.connectAsync(mosquitto.url);
  t.after(() => publisher.end(true));
  await Promise.all(range(50).map((fill) => publisher.publishAsync("tanks/d1/readings", reading(fill), { qos: 1 })));
  await until("the store was asked", () => first.shelf.calls.length > 0);
  await first.subscriber.stop();
  assert.deepEqual(first.shelf.stored, []);
  const second = subscribe(t, mosquitto.url);
  await until("all are stored", () => second.shelf.stored.length >= 50);
  assert.deepEqual(new Set(second.shelf.fills), new Set(range(50)));
});

test("Mosquitto's own clients publish to the embedded broker, and are refused what they may not", { skip }, async (t) => {
  const embedded = await startBroker(t);
  const run = async (program: string, ...words: string[]) => {
    const child = spawn(program, ["-h", "127.0.0.1", "-p", String(embedded.port), "-u", "any", ...words], {
      stdio: ["pipe", "ignore", "pipe"],
    });
    let told = "";
    child.stderr.on("data", (text) => {
      told += text;
    });
    const lines = words.includes("-l") ? range(1000).map((i) => reading(i / 10)) : [];
    child.stdin.end(lines.map((line) => `${line}\n`).join(""));
    const [code] = await once(child, "exit");
    return { code, told };
  };
  for (const qos of ["0", "1", "2"]) {
    const { code, told: words } = await run(
      "mosquitto_pub",
      "-P",
      "good",
      "-q",
      qos,
      "-t",
      "tanks/d1/readings",
      "-m",
      reading(Number(qos)),
    );
    assert.equal(code, 0, words);
  }
  await until("all are stored", () => embedded.shelf.stored.length === 3);
  assert.deepEqual(embedded.shelf.fills, [0, 1, 2]);
  assert.equal((await run("mosquitto_pub", "-P", "good", "-q", "1", "-t", "tanks/d1/readings", "-l")).code, 0);
  await until("all are stored", () => embedded.shelf.stored.length === 1003);
  const wrong = await run("mosquitto_pub", "-P", "bad", "-q", "1", "-t", "tanks/d1/readings", "-m", reading(1));
  assert.match(wrong.told, /bad user name or password|not authori[sz]ed/i);
  const listener = await run("mosquitto_sub", "-P", "good", "-t", "#", "-W", "2");
  assert.match(listener.told, /denied/i);
  const newer = await run("mosquitto_pub", "-V", "5", "-P", "good", "-t", "tanks/d1/readings", "-m", reading(1));
  assert.notEqual(newer.code, 0);
});
