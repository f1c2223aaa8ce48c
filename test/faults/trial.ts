// A service put on trial: a database with the fleet, keys, a ledger of all that is sent, and senders. What is at fault in the end,
// and that `check` finds nothing, is the same question whatever has happened in between.

import assert from "node:assert/strict";
import type { Answer } from "../e2e/ask.ts";
import { importLines, makeKey } from "../e2e/fleet.ts";
import { type Home, home, type Lifetime, type Running, type Service } from "../e2e/program.ts";
import { freePort } from "../support/free-port.ts";
import { type Chance, chance } from "./chance.ts";
import type { Engine } from "./engines.ts";
import { FLEET, KNOWN, SOURCES } from "./fleet.ts";
import { httpSender } from "./http-sender.ts";
import { answered, assignUnknown, countOf, expectWaiting, exported } from "./kept.ts";
import { Ledger } from "./ledger.ts";
import { Measurements } from "./measurements.ts";
import { mqttSender } from "./mqtt-sender.ts";
import type { SenderParts, Tally } from "./sender.ts";

export type Trial = {
  /** Commands run on the database of the trial. */
  readonly here: Home;
  readonly chance: Chance;
  readonly ledger: Ledger;
  readonly measurements: Measurements;
  readonly tally: Tally;
  /** The secret of a key that may do everything. */
  readonly manage: string;
  readonly ports: { readonly http: number; readonly mqtt: number };
  /** The service, at the same address every time, in an environment with more in it. */
  readonly start: (more?: Readonly<Record<string, string>>) => Promise<Service>;
  /** The same, without waiting until it answers. */
  readonly launch: () => Running;
  /** After a kill: nothing that was broken off can come any more. */
  readonly settle: () => Promise<void>;
  /** Real clients with keys of their own, until the function is called that this gives. The service must run. */
  readonly send: (service: Service, mqttUrl?: string) => Promise<() => Promise<unknown>>;
  /** The secret of a new ingest key. */
  readonly key: (service: Service) => Promise<string>;
  /** So many readings, to be sent over HTTP by hand, once or again and again. */
  readonly message: (count: number) => { readonly send: (service: Service) => Promise<Answer> };
  /** Whether there is something for every instant that was sent. */
  readonly isAllStored: (service: Service) => Promise<boolean>;
  /** Judged from beside, whatever goes on. */
  readonly expectKept: () => Promise<void>;
  /** Judged through the interface, when nobody sends any more. Unknown devices become known. */
  readonly expectAllKept: (service: Service) => Promise<void>;
};

const HTTP_MOST = 300;
const MQTT_MOST = 20;
const SHOWN = 10;

export async function trialOn(life: Lifetime, engine: Engine, seed: string): Promise<Trial> {
  const place = home(life);
  const { url, settled } = await engine.open(life);
  const env = { DATABASE_URL: url, RATE_LIMIT: "0" };
  const here = withEnvironment(place, env);
  await importLines(here, FLEET);
  const manage = await makeKey(here, "--role", "manage");
  const ports = { http: await freePort(), mqtt: await freePort() };
  const serve = ["serve", "--port", String(ports.http), "--mqtt", String(ports.mqtt)];
  const luck = chance(seed);
  const ledger = new Ledger();
  const measurements = new Measurements(luck);
  const tally: Tally = { refused: 0, broken: 0, strange: [] };

  async function expectSound(): Promise<void> {
    const { code, stdout, stderr } = await here.run(["check"]);
    assert.equal(code, 0, `check: ${stdout}${stderr}`);
    assert.deepEqual(tally.strange.slice(0, SHOWN), []);
  }

  return {
    here,
    chance: luck,
    ledger,
    measurements,
    tally,
    manage,
    ports,
    start: (env = {}) => here.start(serve, { env }),
    launch: () => here.launch(serve),

    async settle() {
      await settled();
      ledger.settle();
    },

    async send(service, mqttUrl = `mqtt://127.0.0.1:${ports.mqtt}`) {
      const [known] = KNOWN;
      const parts = async (bound = {}): Promise<SenderParts> => {
        const key = await newKey(service, manage, bound);
        return { ledger, measurements, tally, chance: luck, key };
      };
      const [gateway, device] = [await parts(), await parts({ device_id: known.deviceId })];
      const senders = [
        httpSender(gateway, service.url, HTTP_MOST),
        httpSender(await parts(), service.url, 1),
        mqttSender(gateway, mqttUrl, MQTT_MOST),
        mqttSender(device, mqttUrl, 1, known.place),
      ];
      // A test that has failed sends no more.
      life.after(() => senders.forEach((sender) => void sender.abandon()));
      return () => Promise.all(senders.map((sender) => sender.stop()));
    },

    key: (service) => newKey(service, manage, {}),

    message(count) {
      const readings = measurements.fresh(count, KNOWN[0].place);
      const sending = ledger.begin(readings);
      const body = readings.map(({ at, fill }) => ({
        tank_id: KNOWN[0].tankId,
        created_at: new Date(at).toISOString(),
        fill_percentage: fill,
      }));
      return {
        async send(service) {
          const answer = await post(service, "/ingest/v1/readings", manage, body);
          if (answer.status === 200) sending.acknowledged();
          return answer;
        },
      };
    },

    async isAllStored(service) {
      const counts = await Promise.all(SOURCES.map((source) => countOf(service, manage, source)));
      return SOURCES.every(({ place }, i) => counts[i] === ledger.counts(place).sent);
    },

    async expectKept() {
      const by = ledger.now;
      const [kept] = await Promise.all([exported(here), expectSound()]);
      const places = KNOWN.map((known) => known.place);
      assert.deepEqual(ledger.faultsIn(kept, places, by).slice(0, SHOWN), []);
    },

    async expectAllKept(service) {
      await expectWaiting(service, manage, ledger);
      await assignUnknown(service, manage);
      const places = SOURCES.map((source) => source.place);
      assert.deepEqual(ledger.faultsIn(await answered(service, manage), places).slice(0, SHOWN), []);
      await expectSound();
    },
  };
}

const withEnvironment = (place: Home, env: Readonly<Record<string, string>>): Home => ({
  ...place,
  run: (words, more) => place.run(words, { ...more, env: { ...env, ...more?.env } }),
  launch: (words, more) => place.launch(words, { ...more, env: { ...env, ...more?.env } }),
  start: (words, more) => place.start(words, { ...more, env: { ...env, ...more?.env } }),
});

async function newKey(service: Service, manage: string, bound: object): Promise<string> {
  const { status, text } = await post(service, "/manage/v1/keys", manage, { name: "sender", role: "ingest", ...bound });
  assert.equal(status, 201, text);
  return (JSON.parse(text) as { readonly secret: string }).secret;
}

async function post({ url }: Service, path: string, key: string, body: object): Promise<Answer> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
