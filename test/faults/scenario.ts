// A service under load: a database with the fleet, keys, senders, and a ledger of all that they sent. Whatever happens in between,
// what was acknowledged must be stored, and `check` must find nothing.

import assert from "node:assert/strict";
import { seeded } from "../../src/simulate/random.ts";
import { createKey, importLines } from "../e2e/fixtures.ts";
import { type RunningProgram, type Service, type Workspace, workspace } from "../e2e/program.ts";
import type { HttpResponse } from "../e2e/requests.ts";
import { freePort } from "../support/free-port.ts";
import { postgresDatabase } from "../support/postgres/database.ts";
import type { Lifetime } from "../support/service.ts";
import { until } from "../support/until.ts";
import { FIRST_SOURCE, FLEET, Measurements, SOURCES } from "./fleet.ts";
import { Ledger } from "./ledger.ts";
import { httpSender, mqttSender, type Tally } from "./senders.ts";
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
    const { url, query, closeFirst } = await postgresDatabase(life);
    const settled = () => until("its sessions end", async () => (await query(OTHERS)).length === 0, SETTLED_MS);
    return { url, settled, life: { after: closeFirst } };
  },
};

const HTTP_READINGS = 300;
const SHOWN = 10;

export async function startScenario(life: Lifetime, engine: Engine, seed: string): Promise<Scenario> {
  const { life: databaseLife, ...database } = await engine.open(life);
  const here = workspace(databaseLife, { DATABASE_URL: database.url, RATE_LIMIT: "0" });
  await importLines(here, FLEET);
  const manageKey = await createKey(here, "--role", "manage");
  return new Scenario(databaseLife, here, database, manageKey, { http: await freePort(), mqtt: await freePort() }, seed);
}

export class Scenario {
  readonly ledger = new Ledger();
  readonly tally: Tally = { unavailable: 0, broken: 0, unexpected: [] };
  readonly random;
  readonly measurements;
  /** Commands run on the database of the scenario. */
  readonly here: Workspace;
  /** The secret of a key that may do everything. */
  readonly manageKey: string;
  readonly ports: { readonly http: number; readonly mqtt: number };
  readonly #life: Lifetime;
  readonly #database: Database;
  readonly #serve: readonly string[];

  constructor(life: Lifetime, here: Workspace, database: Database, manageKey: string, ports: Scenario["ports"], seed: string) {
    this.random = seeded(seed);
    this.measurements = new Measurements(this.random);
    this.here = here;
    this.manageKey = manageKey;
    this.ports = ports;
    this.#life = life;
    this.#database = database;
    this.#serve = ["serve", "--port", String(ports.http), "--mqtt", String(ports.mqtt)];
  }

  /** The service, at the same address every time, with additional environment variables. */
  start(env: Readonly<Record<string, string>> = {}): Promise<Service> {
    return this.here.start(this.#serve, { env });
  }

  /** The same, without waiting until it is ready. */
  launch(): RunningProgram {
    return this.here.launch(this.#serve);
  }

  /** After a kill: waits until nothing of it can still be committed. */
  async settle(): Promise<void> {
    await this.#database.settled?.();
    this.ledger.settle();
  }

  /** Starts clients with their own keys; returns a function that stops them. The service must run. */
  async send(service: Service, mqttUrl = `mqtt://127.0.0.1:${this.ports.mqtt}`): Promise<() => Promise<unknown>> {
    const gateway = await this.ingestKey(service);
    const senders = [
      httpSender(this, service.url, gateway, HTTP_READINGS),
      httpSender(this, service.url, await this.ingestKey(service), 1),
      mqttSender(this, mqttUrl, gateway),
      mqttSender(this, mqttUrl, await this.ingestKey(service, { device_id: FIRST_SOURCE.deviceId }), FIRST_SOURCE),
    ];
    // A test that has failed sends no more.
    this.#life.after(() => senders.forEach((sender) => void sender.abandon()));
    return () => Promise.all(senders.map((sender) => sender.stop()));
  }

  /** The secret of a new ingest key. */
  async ingestKey(service: Service, binding: object = {}): Promise<string> {
    const { status, text } = await this.#post(service, "/manage/v1/keys", { name: "sender", role: "ingest", ...binding });
    assert.equal(status, 201, text);
    return (JSON.parse(text) as { readonly secret: string }).secret;
  }

  /** Prepares a message of `count` readings; returns a function that sends it over HTTP, once or repeatedly. */
  message(count: number): (service: Service) => Promise<HttpResponse> {
    const readings = this.measurements.fresh(count, FIRST_SOURCE);
    const sending = this.ledger.begin(readings);
    const body = readings.map(({ source: { tankId: tank_id }, at, fill: fill_percentage }) => {
      return { tank_id, created_at: new Date(at).toISOString(), fill_percentage };
    });
    return async (service) => {
      const response = await this.#post(service, "/ingest/v1/readings", body);
      if (response.status === 200) sending.acknowledged();
      return response;
    };
  }

  async #post({ url }: Service, path: string, body: object): Promise<HttpResponse> {
    const headers = { "x-api-key": this.manageKey, "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Whether there is a reading for every instant that was sent. */
  async isAllStored(service: Service): Promise<boolean> {
    const counts = await Promise.all(SOURCES.map((source) => countOf(service, this.manageKey, source)));
    return SOURCES.every((source, i) => counts[i] === this.ledger.counts(source).sent);
  }

  /** By an export, whatever is running. */
  async expectStored(): Promise<void> {
    const by = this.ledger.now;
    const stored = await exported(this.here);
    const known = SOURCES.filter(({ isKnown }) => isKnown);
    assert.deepEqual(this.ledger.errorsIn(stored, known, by).slice(0, SHOWN), []);
    await this.#expectNoErrors();
  }

  /** Through the interface, when nobody sends any more. Unknown devices are assigned to tanks. */
  async expectAllStored(service: Service): Promise<void> {
    await assignUnknownDevices(service, this.manageKey, this.ledger);
    assert.deepEqual(this.ledger.errorsIn(await served(service, this.manageKey), SOURCES).slice(0, SHOWN), []);
    await this.#expectNoErrors();
  }

  async #expectNoErrors(): Promise<void> {
    const { code, stdout, stderr } = await this.here.run(["check"]);
    assert.equal(code, 0, `check: ${stdout}${stderr}`);
    assert.deepEqual(this.tally.unexpected.slice(0, SHOWN), []);
  }
}
