// One page of a SQLite file is overwritten, of each table and index in turn: requests that need it get 503 and are logged, and
// all others are served. A file whose schema cannot be read does not start, and says why.

import assert from "node:assert/strict";
import { closeSync, copyFileSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, suite, test } from "node:test";
import { describeFatalError } from "../../src/domain/errors.ts";
import { DAY, HOUR, MINUTE } from "../../src/domain/instant.ts";
import { startSession } from "../support/browser.ts";
import { customerRecord, putReadings } from "../support/records.ts";
import { type Lifetime, type Service, startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { contract, expectStatus, type RequestOptions, send } from "./client.ts";
import { type Managed, startManaged } from "./services.ts";

const PAGE_BYTES = 4096;
const environment = {
  PUBLIC_URL: "http://127.0.0.1",
  MAIL_FROM: "tanks@operator.example",
  // Nothing listens there: mail stays pending.
  SMTP_URL: "smtp://127.0.0.1:9",
};

type Sample = {
  readonly key: string;
  readonly cookie: string;
  /** An id of each kind of object, by the segment of the path before it. */
  readonly ids: Readonly<Record<string, string>>;
};

/** Every six hours for 120 days, one percent less a day, and a delivery 63 hours ago. */
const history = (now: number) =>
  Array.from({ length: 480 }, (_, i) => {
    const ago = (479 - i) * 6 * HOUR;
    return [now - ago, 30 + (ago / DAY) * 0.5 - (ago > 63 * HOUR ? 20 : -20)] as const;
  });

/** Rows in nearly all tables. */
async function createSample(service: Managed): Promise<Sample> {
  const { manage, store, create, forward } = service;
  const post = async (path: string, body?: object, headers = {}) => {
    const response = await manage("POST", path, body, headers);
    assert.ok(response.status < 300, JSON.stringify(response.body));
    return String(response.body["id"]);
  };
  // More than 256 make a list with a rank index.
  await store.importCustomers(Array.from({ length: 300 }, (_, i) => customerRecord(`m${i}`)));
  const [one, two, deleted] = [await create(), await create(), await create()];
  expectStatus(await manage("DELETE", `/manage/v1/customers/${deleted.customer}?tanks=true`), 200);
  const location = { city: "Freiburg", street: "Lindenweg", latitude: 47.9883, longitude: 7.8567 };
  expectStatus(await manage("PATCH", `/manage/v1/tanks/${one.tank}`, { location, custom_id: "HALL-3" }), 200);
  expectStatus(await manage("PATCH", `/manage/v1/tanks/${two.tank}`, { assigned_device_id: "replaced" }), 200);
  const channels = await post(
    "/manage/v1/channels",
    { type: "email", to: "dispatch@operator.example" },
    { "idempotency-key": "1" },
  );
  await post("/manage/v1/channels", { type: "email", to: "late@operator.example", delay: "4h" });
  await post(`/manage/v1/channels/${channels}/test`);
  await post(`/manage/v1/customers/${one.customer}/verification`);
  const users = await post("/manage/v1/users", { email: "view@operator.example", name: "View", role: "admin" });
  const { secret } = await startSession(store, () => forward(0), "view@operator.example");
  await putReadings(store, one.tank, history(forward(0)));
  const readings = [
    { device_id: "unknown", fill_percentage: 50 },
    { device_id: "replaced", fill_percentage: 50 },
  ];
  expectStatus(await manage("POST", "/ingest/v1/readings", readings), 200);
  forward(1000);
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: two.tank, fill_percentage: 5 }), 200);
  forward(5000);
  const hasForecast = async () => (await manage("GET", `/insight/v1/tanks/${one.tank}/refills`)).body["total_items"] === 1;
  await until("a refill is found", hasForecast);
  await until("forecasts are computed", async () => (await store.dueForecasts(forward(0), 1)).length === 0);
  const first = async (path: string) => {
    const { data } = expectStatus(await manage("GET", path), 200) as { data: { id: string }[] };
    assert.ok(data[0] !== undefined, path);
    return data[0].id;
  };
  await until("mail is composed", async () => (await manage("GET", "/manage/v1/notifications")).body["total_items"] !== 2);
  const ids = {
    ...{ customers: one.customer, tanks: one.tank, devices: "unknown", channels, users, keys: service.keyId },
    alerts: await first("/insight/v1/alerts"),
    notifications: await first("/manage/v1/notifications"),
  };
  const key = await service.key({ role: "manage" });
  return { key, cookie: `tank_monitor_session=${secret}`, ids };
}

type Page = { readonly table: string; readonly name: string; readonly number: number };

/** The root page of each table and index, which for most of them is the only page. */
function rootPages(file: string): Page[] {
  const db = new DatabaseSync(file);
  const rows = db.prepare("SELECT tbl_name, name, rootpage FROM sqlite_schema WHERE rootpage > 0 AND name <> 'commits'").all();
  db.close();
  return rows.map(({ tbl_name, name, rootpage }) => ({ table: `${tbl_name}`, name: `${name}`, number: Number(rootpage) }));
}

/** What is damaged at a time: one table, or one index of each table. Without keys nothing else is read. */
function damages(pages: readonly Page[]): Page[][] {
  const isKeys = ({ table }: Page): boolean => table === "api_key";
  const others = pages.filter((page) => !isKeys(page));
  const tables = others.filter(({ table, name }) => table === name);
  const indexes = [...Map.groupBy(others, ({ table }) => table).values()].map((own) =>
    own.filter(({ table, name }) => table !== name),
  );
  const ranks = Math.max(...indexes.map(({ length }) => length));
  const oneOfEach = Array.from({ length: ranks }, (_, rank) => indexes.flatMap((own) => own.slice(rank, rank + 1)));
  return [pages.filter(isKeys), ...tables.map((table) => [table]), ...oneOfEach];
}

/** Overwrites a page, and returns what was there. */
function overwrite(file: string, page: number, bytes: Buffer): Buffer {
  const before = Buffer.alloc(PAGE_BYTES);
  const position = (page - 1) * PAGE_BYTES;
  const descriptor = openSync(file, "r+");
  readSync(descriptor, before, 0, PAGE_BYTES, position);
  writeSync(descriptor, bytes, 0, PAGE_BYTES, position);
  closeSync(descriptor);
  return before;
}

const FILTERED = [
  "/v1/customers?email=c1@customers.example",
  ...["sort=margin", "sort=silent", "owner_id=c1", "search=frei", "bbox=7,47,8,48", "alert=low"].map(
    (filter) => `/insight/v1/fleet?${filter}`,
  ),
  ...["state=open", "kind=low", "tank_id=t2", "owner_id=c2"].map((filter) => `/insight/v1/alerts?${filter}`),
  ...["name=br", "email=c1@customers.example", "deleted=true"].map((filter) => `/manage/v1/customers?${filter}`),
  ...["name=h", "city=frei", "custom_id=hall", "owner_id=c1", "device_id=d1", "deleted=true"].map(
    (filter) => `/manage/v1/tanks?${filter}`,
  ),
  "/manage/v1/devices?pending=true",
  ...["state=pending", "customer_id=c1"].map((filter) => `/manage/v1/notifications?${filter}`),
  ...["type=tank&id=t1", "id=t1", "by=test"].map((filter) => `/manage/v1/audit?${filter}`),
];

type Call = { readonly method: string; readonly path: string; readonly options: RequestOptions };

/** Every GET of the OpenAPI document, those of `more`, a change and a reading. */
async function callsTo(service: Service, { key, cookie, ids }: Sample, more: readonly string[]): Promise<Call[]> {
  const { document } = await contract(service);
  const paths = Object.keys(document.paths)
    .filter((path) => document.paths[path]?.["get"] !== undefined)
    .map((path) => path.replace(/([a-z]+)\/\{id\}/, (_, kind: string) => `${kind}/${ids[kind]}`));
  const gets = [...paths, "/v1/tanks/t1/telemetry?created_at_lte=2026-10-01T00:00:00Z", ...more].map((path) => ({
    ...{ method: "GET", path },
    options: path.startsWith("/auth/") ? { headers: { cookie } } : { key },
  }));
  const json = (method: string, path: string, body: object): Call => ({
    ...{ method, path },
    options: { method, key, headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
  });
  const number = ++count;
  return [
    ...gets,
    json("PATCH", "/manage/v1/tanks/t1", { name: `Hall ${number}` }),
    json("POST", "/ingest/v1/readings", { tank_id: "t2", fill_percentage: 5 + number / 100 }),
  ];
}

let count = 0;

type Result = { readonly call: string; readonly status: number; readonly code: string | null };

/** All at once. Each response must be as documented. */
async function requestAll(service: Service, sample: Sample, more: readonly string[] = FILTERED): Promise<Result[]> {
  const { check } = await contract(service);
  const calls = await callsTo(service, sample, more);
  return Promise.all(
    calls.map(async ({ method, path, options }) => {
      const response = await send(service, path, options);
      const { status, text } = response;
      if (!checked.has(text)) check({ ...response, method, path });
      checked.add(text);
      return { call: `${method} ${path}`, status, code: status < 400 ? null : JSON.parse(text).code };
    }),
  );
}

/** Most bodies are the same each time. */
const checked = new Set<string>();

/** Tables and indexes that only other requests and background tasks read. */
const READ_BY_OTHERS = [
  "device_assignment",
  "idempotency",
  "notification_alert",
  "deferred_notification",
  "digest_draft",
  "verification",
  "sign_in",
  // Damaged together: each table has one of its indexes damaged at a time.
  "tank_deleted_with_owner, notification_unsent_mail",
];

/** Opens an alert. */
const LOW = { tank_id: "t1", fill_percentage: 1 };

const isServed = ({ status }: Result): boolean => status === 200;
const isRefused = ({ status, code }: Result): boolean => status === 503 && code === "data_damaged";

const ZEROES = Buffer.alloc(PAGE_BYTES);
const TEXT = Buffer.alloc(PAGE_BYTES, "tank_id,created_at,fill_percentage\n");
const contentFor = (page: number): Buffer => (page % 2 === 0 ? ZEROES : TEXT);

suite("a SQLite file with a damaged page", async () => {
  const service = await startManaged({ after }, environment);
  const sample = await createSample(service);
  const db = new DatabaseSync(service.databaseFile, { timeout: 10_000 });
  after(() => db.close());
  db.exec(
    "PRAGMA synchronous = OFF; CREATE TABLE commits (number INTEGER); INSERT INTO commits VALUES (0); PRAGMA wal_checkpoint(TRUNCATE)",
  );
  const sound = join(temporaryFolder({ after }), "tank-monitor.db");
  copyFileSync(service.databaseFile, sound);
  const pages = rootPages(sound);

  /** Starts on a copy with damaged pages. */
  function startDamaged(life: Lifetime, damaged: readonly number[], contentOf = contentFor): Promise<Service> {
    const file = join(temporaryFolder(life), "tank-monitor.db");
    copyFileSync(sound, file);
    for (const page of damaged) overwrite(file, page, contentOf(page));
    return startService(life, { environment: { ...environment, DATABASE_URL: `sqlite:${file}` } });
  }

  /** The responses while these pages are damaged. */
  async function whileDamaged(damaged: readonly Page[], more: readonly string[]): Promise<Result[]> {
    // So that nothing is cached.
    service.forward(MINUTE);
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const before = damaged.map(({ number }) => overwrite(service.databaseFile, number, contentFor(number)));
    // After a commit of another connection, the service reads all pages again.
    db.exec("UPDATE commits SET number = number + 1");
    const results = await requestAll(service, sample, more);
    for (const [i, { number }] of damaged.entries()) overwrite(service.databaseFile, number, before[i] ?? ZEROES);
    db.exec("UPDATE commits SET number = number + 1");
    return results;
  }

  // On one service, since starting one for each page takes minutes.
  test("of any table or index: requests that need it get 503 and are logged, others are served", async () => {
    const unread: string[] = [];
    for (const damaged of damages(pages)) {
      const earlier = service.events.length;
      const results = await whileDamaged(damaged, damaged.some(({ table, name }) => table !== name) ? FILTERED : []);
      const names = damaged.map(({ name }) => name).join(", ");
      assert.deepEqual(
        results.filter((result) => !isServed(result) && !isRefused(result)),
        [],
        names,
      );
      const isLogged = service.events.slice(earlier).some(({ kind }) => kind === "data_damaged");
      assert.ok(isLogged || !results.some(isRefused), `damage is logged: ${names}`);
      if (!results.some(isRefused)) unread.push(names);
    }
    assert.deepEqual(unread, READ_BY_OTHERS);
    assert.deepEqual(
      (await requestAll(service, sample)).filter((result) => !isServed(result)),
      [],
      "all is served again",
    );
    expectNoFailure(service);
  });

  // Rows that are not of one object, with values that SQLite accepts.
  for (const [name, value, row, method, path, body] of [
    ["event.payload", "{", "sequence = (SELECT max(sequence) FROM event)", "GET", "/insight/v1/events", undefined],
    ["service_state.value", "0", "name = 'event_sequence'", "POST", "/ingest/v1/readings", LOW],
    ["audit.at", 2 ** 53 - 1, "number = (SELECT max(number) FROM audit)", "PATCH", "/manage/v1/tanks/t1", { name: "Hall" }],
  ] as const) {
    test(`that changes the value of ${name}: requests that need it get 503`, async () => {
      const [table, column = ""] = name.split(".");
      const update = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${row}`);
      const before = db.prepare(`SELECT ${column} FROM ${table} WHERE ${row}`).get()?.[column];
      update.run(value);
      const damaged = await service.manage(method, path, body);
      update.run(before ?? null);
      expectStatus(damaged, 503, "data_damaged");
      expectStatus(await service.manage(method, path, body), 200);
    });
  }

  test("of all tables and indexes but those of keys: it starts, and reports the damage", async (t) => {
    const others = pages.filter(({ table }) => table !== "api_key");
    const damaged = await startDamaged(
      t,
      others.map(({ number }) => number),
    );
    const results = await requestAll(damaged, sample);
    const served = results.filter((result) => !isRefused(result));
    assert.deepEqual(
      served.map(({ call, status }) => `${status} ${call}`),
      [
        "200 GET /insight/v1/me",
        "200 GET /manage/v1/keys",
        `200 GET /manage/v1/keys/${sample.ids["keys"]}`,
        "200 GET /healthz",
        "200 GET /metrics",
      ],
    );
    await until("background tasks have failed", () =>
      ["sending_failed", "composing_failed"].every((name) => damaged.events.some(({ kind }) => kind === name)),
    );
    expectNoFailure(damaged);
  });

  test("of its schema: it does not start, and says which file is damaged and what to do", async (t) => {
    const schemaPages = db.prepare("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'").all();
    assert.ok(schemaPages.length > 2);
    for (const { pageno } of schemaPages) {
      for (const content of [ZEROES, TEXT]) {
        const { message, exitCode } = await startDamaged(t, [Number(pageno)], () => content).then(
          () => assert.fail(`it has started without page ${pageno}`),
          describeFatalError,
        );
        assert.match(message, /^\S+tank-monitor\.db is (.+, or its first page is )?damaged.*\. .*[Rr]estore a backup\.$/);
        assert.equal(exitCode, 1);
      }
    }
  });
});

/** Damage is neither an outage nor an internal error. */
function expectNoFailure({ events }: Service): void {
  const kinds = new Set(events.map(({ kind }) => kind));
  for (const kind of [
    "request_failed",
    "store_unavailable",
    "writes_unavailable",
    "sweep_failed",
    "forecast_job_failed",
  ] as const) {
    assert.ok(!kinds.has(kind), kind);
  }
}
