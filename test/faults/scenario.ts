// A service under load: a database with the fleet, keys, senders, and a ledger of all that they sent. Whatever happens in between,
// what was acknowledged must be stored, and `check` must find nothing.

import assert from "node:assert/strict";
import { seeded } from "../../src/simulate/random.ts";
import { createKey, importLines } from "../e2e/fixtures.ts";
import { type RunningProgram, type Service, workspace } from "../e2e/program.ts";
import type { HttpResponse } from "../e2e/requests.ts";
import { freePort } from "../support/free-port.ts";
import { postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import type { Lifetime } from "../support/service.ts";
import { until } from "../support/until.ts";
import { FIRST_SOURCE, FLEET, Measurements, SOURCES } from "./fleet.ts";
import { Ledger } from "./ledger.ts";
import { type FailureCounts, httpSender, mqttSender, readingJson } from "./senders.ts";
import { assignUnknownDevices, countOf, exported, served } from "./stored.ts";

/** Test names print it, and TEST_FAULTS_SEED repeats it as far as timing allows. */
export const SEED = process.env["TEST_FAULTS_SEED"] ?? String(Date.now() % 1_000_000);

const SETTLED_MS = 30_000;
const OTHERS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";

export type Database = {
  /** For `DATABASE_URL`. */
  readonly url: string;
  /** Resolves when nothing of a process that was killed is in progress any more. */
  readonly settled?: () => Promise<unknown>;
};

/** How to create a new database. */
export type Engine = {
  readonly name: string;
  readonly open: (life: Lifetime) => Promise<Database & { readonly life: Lifetime }>;
};

export const SQLITE: Engine = { name: "SQLite", open: async (life) => ({ url: "sqlite:tanks.db", life }) };

export const POSTGRES: Engine = {
  name: "PostgreSQL",
  async open(life) {
    const { url, query, closeFirst } = await postgresDatabase(life, { locale: TEMPLATE_LOCALE, withSchema: true });
    const settled = () => until("its sessions end", async () => (await query(OTHERS)).length === 0, SETTLED_MS);
    return { url, settled, life: { after: closeFirst } };
  },
};

/** How much the senders send: at most `httpReadings` per request, with a pause after each. */
export type LoadSize = { readonly httpReadings: number; readonly pauseMs: number };

const FULL_LOAD: LoadSize = { httpReadings: 300, pauseMs: 0 };
export const LIGHT_LOAD: LoadSize = { httpReadings: 100, pauseMs: 10 };
const SHOWN = 10;

export type Scenario = Awaited<ReturnType<typeof startScenario>>;

export async function startScenario(givenLife: Lifetime, engine: Engine, seed: string, size = FULL_LOAD) {
  const { url, settled, life } = await engine.open(givenLife);
  const here = workspace(life, { DATABASE_URL: url, RATE_LIMIT: "0" });
  await importLines(here, FLEET);
  /** The secret of a key that may do everything. */
  const manageKey = await createKey(here, "--role", "manage");
  const ports = { http: await freePort(), mqtt: await freePort() };
  const serve = ["serve", "--port", String(ports.http), "--mqtt", String(ports.mqtt)];
  const random = seeded(seed);
  const failures: FailureCounts = { unavailable: 0, broken: 0, unexpected: [] };
  const load = { ledger: new Ledger(), measurements: new Measurements(random), failures, random, pauseMs: size.pauseMs };
  const { ledger, measurements } = load;

  async function post({ url }: Service, path: string, body: string): Promise<HttpResponse> {
    const headers = { "x-api-key": manageKey, "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** The secret of a new ingest key. */
  async function ingestKey(service: Service, binding: object = {}): Promise<string> {
    const { status, text } = await post(
      service,
      "/manage/v1/keys",
      JSON.stringify({ name: "sender", role: "ingest", ...binding }),
    );
    assert.equal(status, 201, text);
    return (JSON.parse(text) as { readonly secret: string }).secret;
  }

  async function expectNoErrors(): Promise<void> {
    const { code, stdout, stderr } = await here.run(["check"]);
    assert.equal(code, 0, `check: ${stdout}${stderr}`);
    assert.deepEqual(failures.unexpected.slice(0, SHOWN), []);
  }

  return {
    ...load,
    /** Commands run on the database of the scenario. */
    here,
    manageKey,
    ports,
    ingestKey,

    /** The service, at the same address every time, with additional environment variables. */
    start: (env: Readonly<Record<string, string>> = {}): Promise<Service> => here.start(serve, { env }),

    /** The same, without waiting until it is ready. */
    launch: (): RunningProgram => here.launch(serve),

    /** After a kill: waits until nothing of it can still be committed. */
    async settle(): Promise<void> {
      await settled?.();
      ledger.settle();
    },

    /** Starts clients with their own keys; returns a function that stops them. The service must run. */
    async send(service: Service, mqttUrl = `mqtt://127.0.0.1:${ports.mqtt}`): Promise<() => Promise<unknown>> {
      const gateway = await ingestKey(service);
      const senders = [
        httpSender(load, service.url, gateway, size.httpReadings),
        httpSender(load, service.url, await ingestKey(service), 1),
        mqttSender(load, mqttUrl, gateway),
        mqttSender(load, mqttUrl, await ingestKey(service, { device_id: FIRST_SOURCE.deviceId }), FIRST_SOURCE),
      ];
      // A test that has failed sends no more.
      life.after(() => senders.forEach((sender) => void sender.abandon()));
      return () => Promise.all(senders.map((sender) => sender.stop()));
    },

    /** Prepares a message of `count` readings; returns a function that sends it over HTTP, once or repeatedly. */
    message(count: number): (service: Service) => Promise<HttpResponse> {
      const readings = measurements.fresh(count, FIRST_SOURCE);
      const sending = ledger.begin(readings);
      const body = JSON.stringify(readings.map((reading) => ({ tank_id: FIRST_SOURCE.tankId, ...readingJson(reading) })));
      return async (service) => {
        const response = await post(service, "/ingest/v1/readings", body);
        if (response.status === 200) sending.acknowledged();
        return response;
      };
    },

    /** Whether there is a reading for every instant that was sent. */
    async isAllStored(service: Service): Promise<boolean> {
      const counts = await Promise.all(SOURCES.map((source) => countOf(service, manageKey, source)));
      return SOURCES.every((source, i) => counts[i] === ledger.counts(source).sent);
    },

    /** By an export, whatever is running. */
    async expectStored(): Promise<void> {
      const by = ledger.now;
      const known = SOURCES.filter(({ isKnown }) => isKnown);
      assert.deepEqual(ledger.errorsIn(await exported(here), known, by).slice(0, SHOWN), []);
      await expectNoErrors();
    },

    /** Through the interface, when nobody sends any more. Unknown devices are assigned to tanks. */
    async expectAllStored(service: Service): Promise<void> {
      await assignUnknownDevices(service, manageKey, ledger);
      assert.deepEqual(ledger.errorsIn(await served(service, manageKey), SOURCES).slice(0, SHOWN), []);
      await expectNoErrors();
    },
  };
}
