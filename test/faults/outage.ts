// The database cannot be written for a while: nothing is acknowledged meanwhile, the memory stays as it is, and all goes on by
// itself afterwards.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { ask } from "../e2e/ask.ts";
import type { Service } from "../e2e/program.ts";
import { Mqtt5Broker } from "../support/mqtt5-broker.ts";
import { until } from "../support/until.ts";
import { publishTo } from "./external.ts";
import { memoryOf } from "./memory.ts";
import type { Trial } from "./trial.ts";

export type Outage = {
  /** `pid` is the process of the service. */
  readonly begin: (pid: number) => unknown;
  readonly end: (pid: number) => unknown;
  /** Whether what is there can still be read. */
  readonly canRead: boolean;
  /** At least. */
  readonly seconds: number;
  /** What the log calls it: `writes_unavailable`, `writes_recovered`. */
  readonly event: "store" | "writes";
};

const CALM = 1000;
/** That the service subscribes to. */
const TOPICS = 3;
/** Refusals in a row after which nothing that was under way before can come any more. */
const SETTLED = 50;
const SETTLED_MS = 30_000;
const BACK_MS = 10_000;
/** Readings in a message, and messages after which the memory has the size it needs. */
const LARGE = 5000;
const WARM = 40;
/** Room for what is needed, and not for garbage: what grows in it is kept by somebody. */
const SMALL_HEAP = "--max-old-space-size=96";
/** What a collector of garbage may leave lying about. */
const BREATH_MB = 32;

export async function sitOut(t: TestContext, trial: Trial, outage: Outage): Promise<void> {
  const { ledger, tally } = trial;
  const broker = await new Mqtt5Broker().listen(t);
  const service = await trial.start({ MQTT_URL: `mqtt://127.0.0.1:${broker.port}`, NODE_OPTIONS: SMALL_HEAP });
  await until("the service has subscribed", () => broker.subscribed.length === TOPICS, SETTLED_MS);
  const stopSending = await trial.send(service);
  const stopPublishing = publishTo(t, broker, trial);
  await ledger.untilAcknowledged(CALM);
  await outage.begin(service.pid);
  const news = await untilSettled(trial);

  const { refused, broken } = tally;
  await expectRefused(trial, service, outage);
  const early = await hammer(trial, service, WARM, 0);
  const late = await hammer(trial, service, WARM * 2, outage.seconds);
  assert.equal(ledger.news, news, "nothing is acknowledged meanwhile, except what was there before");
  assert.ok(tally.refused > refused && tally.broken > broken, "though senders of both kinds have tried");
  t.diagnostic(`${tally.refused - refused} requests refused; at most ${Math.round(early)} MB, then ${Math.round(late)} MB`);
  assert.ok(late < early + BREATH_MB, `${late} MB instead of ${early}`);

  await outage.end(service.pid);
  const last = trial.message(1);
  await until("readings are taken again", async () => (await last.send(service)).status === 200, BACK_MS);
  await ledger.untilAcknowledged(CALM);
  await Promise.all([stopSending(), stopPublishing()]);
  ledger.settle();
  await trial.expectAllKept(service);
  const { code, stderr } = await service.stop();
  assert.equal(code, 0, "the process that was started first");
  const told = [...stderr.matchAll(/"event":"((?:store|writing)_(?:lost|back))"/g)].map(([, event]) => event);
  assert.ok(
    told.includes(`${outage.event}_unavailable`) && told.at(-1)?.endsWith("_recovered") && told.length < 20,
    String(told),
  );
}

/** Resolves with the readings that are stored by then. */
async function untilSettled({ ledger, tally }: Trial): Promise<number> {
  let news = ledger.news;
  let since = tally.refused;
  await until(
    "everything is refused",
    () => {
      if (ledger.news === news) return tally.refused > since + SETTLED;
      news = ledger.news;
      since = tally.refused;
      return false;
    },
    SETTLED_MS,
  );
  return news;
}

async function expectRefused(trial: Trial, service: Service, { canRead }: Outage): Promise<void> {
  const { status, headers, text } = await trial.message(1).send(service);
  assert.equal(status, 503, text);
  assert.equal(headers.get("retry-after"), "1");
  assert.equal((JSON.parse(text) as { readonly code: string }).code, "store_unavailable");
  assert.equal((await ask(service, "/v1/tanks", trial.manage)).status, canRead ? 200 : 503);
  assert.equal((await ask(service, "/readyz")).status, canRead ? 200 : 503);
  assert.equal((await ask(service, "/healthz")).status, 200);
}

/** Large messages, each refused, beside what the senders do. Resolves with the most memory that the service took. */
async function hammer(trial: Trial, service: Service, times: number, seconds: number): Promise<number> {
  const message = trial.message(LARGE);
  const begun = performance.now();
  let most = 0;
  for (let sent = 0; sent < times || performance.now() - begun < seconds * 1000; sent++) {
    assert.equal((await message.send(service)).status, 503);
    most = Math.max(most, memoryOf(service.pid));
  }
  return most;
}
