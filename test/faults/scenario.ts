// A service under load: a database with the fleet, keys, senders, and a ledger of all that they sent. Whatever happens in between,
// what was acknowledged must be stored, and `check` must find nothing.

import assert from "node:assert/strict";
import { createKey, importLines } from "../e2e/fixtures.ts";
import { type Lifetime, type RunningProgram, type Service, type Workspace, workspace } from "../e2e/program.ts";
import type { HttpResponse } from "../e2e/requests.ts";
import { freePort } from "../support/free-port.ts";
import { postgresDatabase } from "../support/postgres/database.ts";
import { until } from "../support/until.ts";
import { FLEET, KNOWN, SOURCES } from "./fleet.ts";
import { Ledger } from "./ledger.ts";
import { Measurements } from "./measurements.ts";
import { type Random, seededRandom } from "./random.ts";
import type { SenderParts, Tally } from "./senders.ts";
import { httpSender, mqttSender } from "./senders.ts";
import { assignUnknownDevices, countOf, expectPending, exported, served } from "./stored.ts";

const SETTLED_MS = 30_000;
const OTHERS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";

/** How to create a new database. */
export type Engine = { readonly name: string; readonly open: (life: Lifetime) => Promise<Database> };

export type Database = {
  /** For `DATABASE_URL`. */
  readonly url: string;
  /** Resolves when nothing of a process that was killed is in progress any more. */
  readonly settled: () => Promise<unknown>;
};

export const SQLITE: Engine = {
  name: "SQLite",
  open: async () => ({ url: "sqlite:tanks.db", settled: async () => {} }),
};

export const POSTGRES: Engine = {
  name: "PostgreSQL",
  async open(life) {
    const { url, query } = await postgresDatabase(life);
    return { url, settled: () => until("its sessions end", async () => (await query(OTHERS)).length === 0, SETTLED_MS) };
  },
};

export type Scenario = {
  /** Commands run on the database of the scenario. */
  readonly here: Workspace;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly measurements: Measurements;
  readonly tally: Tally;
  /** The secret of a key that may do everything. */
  readonly manage: string;
  readonly ports: { readonly http: number; readonly mqtt: number };
  /** The service, at the same address every time, with additional environment variables. */
  readonly start: (more?: Readonly<Record<string, string>>) => Promise<Service>;
  /** The same, without waiting until it is ready. */
  readonly launch: () => RunningProgram;
  /** After a kill: waits until nothing of it can still be committed. */
  readonly settle: () => Promise<void>;
  /** Starts clients with their own keys; returns a function that stops them. The service must run. */
  readonly send: (service: Service, mqttUrl?: string) => Promise<() => Promise<unknown>>;
  /** The secret of a new ingest key. */
  readonly key: (service: Service) => Promise<string>;
  /** A message of `count` readings, to be sent over HTTP once or repeatedly. */
  readonly message: (count: number) => { readonly send: (service: Service) => Promise<HttpResponse> };
  /** Whether there is something for every instant that was sent. */
  readonly isAllStored: (service: Service) => Promise<boolean>;
  /** By an export, whatever is running. */
  readonly expectStored: () => Promise<void>;
  /** Through the interface, when nobody sends any more. Unknown devices are assigned to tanks. */
  readonly expectAllStored: (service: Service) => Promise<void>;
};

const HTTP_READINGS = 300;
const MQTT_READINGS = 20;
const SHOWN = 10;

export async function startScenario(life: Lifetime, engine: Engine, seed: string): Promise<Scenario> {
  const place = workspace(life);
  const { url, settled } = await engine.open(life);
  const env = { DATABASE_URL: url, RATE_LIMIT: "0" };
  const here = withEnvironment(place, env);
  await importLines(here, FLEET);
  const manage = await createKey(here, "--role", "manage");
  const ports = { http: await freePort(), mqtt: await freePort() };
  const serve = ["serve", "--port", String(ports.http), "--mqtt", String(ports.mqtt)];
  const random = seededRandom(seed);
  const ledger = new Ledger();
  const measurements = new Measurements(random);
  const tally: Tally = { unavailable: 0, broken: 0, unexpected: [] };

  async function expectSound(): Promise<void> {
    const { code, stdout, stderr } = await here.run(["check"]);
    assert.equal(code, 0, `check: ${stdout}${stderr}`);
    assert.deepEqual(tally.unexpected.slice(0, SHOWN), []);
  }

  return {
    here,
    random,
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
        return { ledger, measurements, tally, random, key };
      };
      const [gateway, device] = [await parts(), await parts({ device_id: known.deviceId })];
      const senders = [
        httpSender(gateway, service.url, HTTP_READINGS),
        httpSender(await parts(), service.url, 1),
        mqttSender(gateway, mqttUrl, MQTT_READINGS),
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
          const response = await post(service, "/ingest/v1/readings", manage, body);
          if (response.status === 200) sending.acknowledged();
          return response;
        },
      };
    },

    async isAllStored(service) {
      const counts = await Promise.all(SOURCES.map((source) => countOf(service, manage, source)));
      return SOURCES.every(({ place }, i) => counts[i] === ledger.counts(place).sent);
    },

    async expectStored() {
      const by = ledger.now;
      const [stored] = await Promise.all([exported(here), expectSound()]);
      const places = KNOWN.map((known) => known.place);
      assert.deepEqual(ledger.errorsIn(stored, places, by).slice(0, SHOWN), []);
    },

    async expectAllStored(service) {
      await expectPending(service, manage, ledger);
      await assignUnknownDevices(service, manage);
      const places = SOURCES.map((source) => source.place);
      assert.deepEqual(ledger.errorsIn(await served(service, manage), places).slice(0, SHOWN), []);
      await expectSound();
    },
  };
}

const withEnvironment = (place: Workspace, env: Readonly<Record<string, string>>): Workspace => ({
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

async function post({ url }: Service, path: string, key: string, body: object): Promise<HttpResponse> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
