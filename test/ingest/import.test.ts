import assert from "node:assert/strict";
import test from "node:test";
import { storeUnavailable } from "../../src/domain/errors.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { emptySummary, Import, type ImportFormat, type ImportSummary, type RejectedLine } from "../../src/ingest/import.ts";
import { postgresEngine, sqliteEngine } from "../store/engines.ts";
import { emptyStore } from "../support/stores.ts";

const WHOLE = { from: undefined, to: undefined, page: 1, size: 100 };

async function* bytes(text: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const all = Buffer.from(text as string);
  for (let start = 0; start < all.length; start += size) yield all.subarray(start, start + size);
}

async function importText(store: Store, text: string | Buffer, format: ImportFormat = "ndjson", size = 1000) {
  const rejects: RejectedLine[] = [];
  const task = new Import(store, (reject) => rejects.push(reject));
  await task.run(bytes(text, size), format);
  return { summary: task.summary, rejects };
}

const line = (fields: object): string => JSON.stringify(fields);
const customer = (id: string, more: object = {}) =>
  line({ object: "customer", id, created_at: "2026-01-01", email: `${id}@x.example`, name: id, ...more });
const tank = (id: string, owner_id: string, more: object = {}) =>
  line({
    object: "tank",
    id,
    owner_id,
    assigned_device_id: `d-${id}`,
    capacity: 1,
    capacity_unit: "liters",
    created_at: "2026-01-01",
    min_fill_alert_percentage: 20,
    name: id,
    ...more,
  });
const reading = (tank_id: string, at: number, fill_percentage = 50) =>
  line({ object: "telemetry", tank_id, created_at: new Date(at).toISOString(), fill_percentage });
const file = (...lines: string[]) => `${lines.join("\n")}\n`;
const summary = (counts: Partial<ImportSummary>): ImportSummary => ({ ...emptySummary(), ...counts });
const reasonsByLine = (rejects: readonly RejectedLine[]) => rejects.map(({ line: number, reason }) => `${number}: ${reason}`);

test("readings whose time has no offset are UTC, and counted, in lines and in CSV files", async (t) => {
  const store = await emptyStore(t);
  const [assumed, given] = [
    ["2026-02-01", "2026-02-01T08:00:00", "2026-02-01T08:00:00.5"],
    ["2026-02-02T08:00:00Z", "2026-02-02T08:00:00.500z", "2026-02-03T00:00:00+02:00"],
  ];
  const times = [...assumed, ...given];
  const lines = times.map((created_at) => line({ object: "telemetry", tank_id: "one", created_at, fill_percentage: 50 }));
  const counts = { read: 8, new: 8, assumed_utc: 3 };
  assert.deepEqual((await importText(store, file(customer("a"), tank("one", "a"), ...lines))).summary, summary(counts));
  const csv = file("tank_id,created_at,fill_percentage", ...times.map((time) => `one,${time},50`));
  const again = { read: 6, unchanged: 6, assumed_utc: 3 };
  assert.deepEqual((await importText(store, csv, "csv")).summary, summary(again));
});

test("a file of customers, tanks and readings is new at first, and all unchanged the second time", async (t) => {
  const store = await emptyStore(t);
  const fleet = file(
    customer("a"),
    customer("b"),
    tank("one", "a"),
    reading("one", 1),
    reading("one", 2),
    tank("two", "b", { deleted: true }),
    reading("two", 1),
  );
  assert.deepEqual(await importText(store, fleet), { summary: summary({ read: 7, new: 7 }), rejects: [] });
  assert.deepEqual(await importText(store, fleet), { summary: summary({ read: 7, unchanged: 7 }), rejects: [] });
  const changed = file(customer("a", { name: "New" }), customer("b"), tank("one", "b"), reading("one", 1, 60), reading("one", 2));
  assert.deepEqual(await importText(store, changed), { summary: summary({ read: 5, changed: 3, unchanged: 2 }), rejects: [] });
  const [a, b] = [await store.customerById("a", UNRESTRICTED), await store.customerById("b", UNRESTRICTED)];
  assert.ok(typeof a === "object" && typeof b === "object");
  assert.deepEqual([a.name, a.tank_count, b.tank_count], ["New", 0, 1]);
});

test("invalid lines are reported with number, reason and text, in the order of the file", async (t) => {
  const store = await emptyStore(t);
  const lines = [
    tank("early", "a"),
    customer("a"),
    "",
    "{not json",
    tank("one", "a"),
    tank("two", "a", { assigned_device_id: "d-one" }),
    "   ",
    line({ object: "customer", id: "x" }),
    reading("nobody", 1),
    reading("one", 1),
    line({ object: "tank", id: "nobody", deleted: true }),
    "[]",
    reading("one", 1, 101),
    customer("b", { email: "nobody" }),
    reading("one", 2),
    line({ object: "customer", id: "nobody", deleted: true }),
  ];
  const { summary: counts, rejects } = await importText(store, file(...lines), "ndjson", 7);
  assert.deepEqual(counts, summary({ read: 14, new: 4, rejected: 10 }));
  const reasons = reasonsByLine(rejects);
  assert.match(reasons[1] ?? "", /^4: the line is not valid JSON: /);
  assert.deepEqual(reasons.toSpliced(1, 1), [
    "1: owner_id: there is no customer with this id",
    "6: assigned_device_id: this device is already assigned to tank one",
    "8: created_at: is missing",
    "9: tank_id: there is no tank with this id",
    "11: id: there is no tank with this id to delete",
    '12: the line must be an object whose "object" is "customer", "tank", "device" or "telemetry"',
    "13: fill_percentage: must be from 0 to 100",
    "14: email: must be an email address",
    "16: id: there is no customer with this id to delete",
  ]);
  for (const { line: number, text } of rejects) assert.equal(text, lines[number - 1]);
});

test("what a line refers to must come earlier in the file, or exist in the database", async (t) => {
  const store = await emptyStore(t);
  const backwards = file(reading("one", 1), tank("one", "a"), customer("a"));
  assert.deepEqual((await importText(store, backwards)).summary, summary({ read: 3, new: 1, rejected: 2 }));
  assert.deepEqual((await importText(store, backwards)).summary, summary({ read: 3, new: 1, unchanged: 1, rejected: 1 }));
  assert.deepEqual((await importText(store, backwards)).summary, summary({ read: 3, new: 1, unchanged: 2 }));
  assert.deepEqual((await importText(store, backwards)).summary, summary({ read: 3, unchanged: 3 }));
});

test("kinds may be mixed line by line, and each line sees those before it", async (t) => {
  const store = await emptyStore(t);
  const count = 60;
  const mixed = Array.from({ length: count }, (_, i) => [
    customer(`c${i}`),
    tank(`t${i}`, `c${i}`),
    reading(`t${i}`, 1),
    reading("t0", 10 + i),
  ]).flat();
  assert.deepEqual((await importText(store, file(...mixed))).summary, summary({ read: 4 * count, new: 4 * count }));
  const found = await store.telemetryPage("t0", WHOLE, UNRESTRICTED);
  assert.equal(typeof found === "object" && found.totalItems, count + 1);
});

test("of several lines for one object, the last one counts", async (t) => {
  const store = await emptyStore(t);
  const text = file(
    customer("a"),
    customer("a", { name: "Second" }),
    line({ object: "customer", id: "a", deleted: true }),
    customer("a", { name: "Last" }),
  );
  assert.deepEqual((await importText(store, text)).summary, summary({ read: 4, new: 1, changed: 3 }));
  const found = await store.customerById("a", UNRESTRICTED);
  assert.equal(typeof found === "object" && found.name, "Last");
});

test("a deletion with broken Unicode in its id deletes no other customer", async (t) => {
  const store = await emptyStore(t);
  const broken = '{"object":"customer","id":"\\ud800","deleted":true}';
  const { summary: counts } = await importText(store, file(customer("\ufffd", { email: "a@b" }), broken));
  assert.deepEqual(counts, summary({ read: 2, new: 1, rejected: 1 }));
  assert.equal(typeof (await store.customerById("\ufffd", UNRESTRICTED)), "object");
});

const device = (id: string, more: object = {}) => line({ object: "device", id, ...more });
const SHAPE = { kind: "upright", unit: "m", height: 2, sensor_height: 2 };
const PAST_ASSIGNMENTS = [{ tank_id: "two", until: "2026-01-01T00:00:00Z" }];

test("invalid device lines are rejected with the reason", async (t) => {
  const store = await emptyStore(t);
  const lines = [
    customer("a"),
    tank("one", "a", { shape: { ...SHAPE, height: 0 } }),
    tank("one", "a", { shape: SHAPE }),
    device("d-one", { tank_id: null }),
    device("other", { tank_id: "one" }),
    device("d-one", { deleted: true }),
    device("d-one", { profile: "unheard-of" }),
    device("d-one", { profile: { value: "a" } }),
    device("d-one", { since: "yesterday" }),
    device("d-one", { dropped: -1 }),
    device("d-one", { past_assignments: PAST_ASSIGNMENTS }),
    device("d-one", { past_assignments: PAST_ASSIGNMENTS, since: "2026-01-01T00:00:00Z" }),
    device("d-one", { past_assignments: [...PAST_ASSIGNMENTS, ...PAST_ASSIGNMENTS], since: null }),
    device("d-one", { past_assignments: [{ tank_id: "one" }] }),
    device("d-one", { colour: "red" }),
    line({ object: "telemetry", device_id: "x", fill_percentage: 5 }),
    line({ object: "telemetry", device_id: "x", created_at: "2026-01-01", payload: 5 }),
    line({ object: "telemetry", device_id: "x", tank_id: "one", created_at: "2026-01-01", fill_percentage: 5 }),
    line({ object: "telemetry", device_id: "d-one", created_at: "2026-01-01T00:00:00Z", payload: { fill_percentage: 101 } }),
  ];
  const { summary: counts, rejects } = await importText(store, file(...lines));
  assert.deepEqual(counts, summary({ read: 19, new: 2, rejected: 16, pending: 1 }));
  const reasons = reasonsByLine(rejects);
  assert.match(reasons[4] ?? "", /^7: profile: "unheard-of" is not a built-in profile\. Built-in profiles: /);
  assert.deepEqual(reasons.toSpliced(4, 1), [
    "2: shape.height: must be above 0",
    "4: tank_id: this device is assigned to tank one; assign it with the tank's own line",
    "5: tank_id: this device is assigned to no tank; assign it with the tank's own line",
    "6: deleted: is not a known field",
    "8: profile.measures: is missing",
    '9: since: must be a datetime such as "2026-11-14T09:30:00Z"',
    "10: dropped: must be from 0 to 1000000000000",
    "11: since: is missing, and is needed with past_assignments",
    "12: past_assignments[0].tank_id: there is no tank with this id",
    "13: past_assignments: must not have two entries with the same until",
    "14: past_assignments[0].until: is missing",
    "15: colour: is not a known field",
    "16: created_at: is missing",
    "17: payload: must be an object",
    "18: tank_id and device_id: only one of them is allowed",
  ]);
});

for (const engine of [sqliteEngine, postgresEngine]) {
  test(`the number of dropped readings has a maximum, ${engine.name}`, async (t) => {
    const { store } = await engine.open(t);
    const dropped = (count: string) => `{"object":"device","id":"d","dropped":${count}}`;
    const { summary: counts, rejects } = await importText(
      store,
      file(...["1000000000000", "1000000000001", "9007199254740993", "1e19"].map(dropped)),
    );
    assert.deepEqual(counts, summary({ read: 4, new: 1, rejected: 3 }));
    for (const { reason } of rejects) assert.equal(reason, "dropped: must be from 0 to 1000000000000");
    assert.equal((await store.managedDevice("d"))?.dropped, 1e12);
  });
}

test("a file without shapes and devices leaves both unchanged, and an older device line removes no past assignment", async (t) => {
  const store = await emptyStore(t);
  const fleet = [customer("a"), tank("one", "a"), tank("two", "a")];
  const known = device("d-one", {
    profile: "elsys",
    since: "2026-01-01T00:00:00Z",
    past_assignments: PAST_ASSIGNMENTS,
    dropped: 3,
  });
  await importText(store, file(...fleet, tank("one", "a", { shape: SHAPE }), known));
  const state = async () => [await store.managedTank("one"), await store.managedDevice("d-one")];
  const before = await state();
  assert.deepEqual((await importText(store, file(...fleet))).summary, summary({ read: 3, unchanged: 3 }));
  const older = device("d-one", { tank_id: "one", since: null, dropped: 1, past_assignments: [] });
  assert.deepEqual((await importText(store, file(older, device("D-none")))).summary, summary({ read: 2, unchanged: 1, new: 1 }));
  assert.deepEqual(await state(), before);
  const backlog = line({ object: "telemetry", device_id: "d-one", created_at: "2025-12-31T00:00:00Z", fill_percentage: 9 });
  assert.deepEqual((await importText(store, file(backlog))).summary, summary({ read: 1, new: 1 }));
  const found = await store.telemetryPage("two", WHOLE, UNRESTRICTED);
  assert.equal(typeof found === "object" && found.totalItems, 1, "it belongs to the previous tank");
  const emptied = file(tank("one", "a", { shape: null }), device("d-one", { profile: null }));
  assert.deepEqual((await importText(store, emptied)).summary, summary({ read: 2, changed: 2 }));
  const [shaped, own] = [await store.managedTank("one"), await store.managedDevice("d-one")];
  assert.deepEqual([shaped?.shape, own?.device.profile], [null, null]);
});

test("pending readings are released by the line that makes them readable, and the audit log has what was imported", async (t) => {
  const store = await emptyStore(t);
  const pending = line({
    object: "telemetry",
    device_id: "d-one",
    created_at: "2026-01-01T00:00:00Z",
    payload: { distance: 500 },
  });
  assert.deepEqual(
    (await importText(store, file(pending, customer("a"), tank("one", "a")))).summary,
    summary({ read: 3, pending: 1, new: 2 }),
  );
  assert.equal((await store.managedDevice("d-one"))?.pending, 1);
  const profileAndShape = file(device("d-one", { profile: "elsys" }), tank("one", "a", { shape: SHAPE }));
  assert.deepEqual((await importText(store, profileAndShape)).summary, summary({ read: 2, changed: 2 }));
  assert.equal((await store.managedDevice("d-one"))?.pending, 0);
  const more = file(pending.replace("d-one", "d-two"), tank("two", "a", { shape: SHAPE }), device("d-two", { profile: "elsys" }));
  assert.deepEqual((await importText(store, more)).summary, summary({ read: 3, pending: 1, new: 1, changed: 1 }));
  assert.equal((await store.managedDevice("d-two"))?.pending, 0);
  const found = await store.telemetryPage("one", WHOLE, UNRESTRICTED);
  assert.deepEqual(typeof found === "object" && found.data.map(({ fill_percentage }) => fill_percentage), [75]);
  const { data } = await store.auditPage({ ...WHOLE, by: "import", object: undefined, id: undefined });
  const changes = data.filter(({ action }) => action === "changed").map((entry) => entry.changes);
  const [shaped, profiled] = [{ shape: { from: null, to: SHAPE } }, { profile: { from: null, to: "elsys" } }];
  assert.deepEqual(changes, [profiled, shaped, shaped, profiled]);
});

test("lines that are too long or not UTF-8 are rejected, and the others imported", async (t) => {
  const store = await emptyStore(t);
  const text = Buffer.concat([
    Buffer.from(`\ufeff${customer("a")}\r\n`),
    Buffer.from(`{"object":"customer","id":"`),
    Buffer.of(0xff),
    Buffer.from(`"}\n${" ".repeat(1_100_000)}${customer("long")}\n${customer("b")}`),
  ]);
  const { summary: counts, rejects } = await importText(store, text, "ndjson", 65_536);
  assert.deepEqual(counts, summary({ read: 4, new: 2, rejected: 2 }));
  assert.deepEqual(reasonsByLine(rejects), [
    '2: the line is not valid UTF-8: save the file as UTF-8 (in Excel: "CSV UTF-8")',
    "3: the line is longer than 1048576 bytes",
  ]);
});

test("a list of JSON objects is rejected with what a file should have", async (t) => {
  const { rejects } = await importText(await emptyStore(t), `[\n${customer("a")},\n]\n`);
  assert.match(
    rejects[0]?.reason ?? "",
    /^the line is not valid JSON; a file has one object per line, without a list around them: /,
  );
});

test("CSV readings are counted like others, and blank rows are skipped", async (t) => {
  const store = await emptyStore(t);
  await importText(store, file(customer("a"), tank("one", "a")));
  const csv =
    "\ufefftank_id,created_at,fill_percentage\r\none,2026-01-01,50\r\n\r\none,2026-01-02,x\r\nnobody,2026-01-01,5\r\none,2026-01-01,50";
  const { summary: counts, rejects } = await importText(store, csv, "csv");
  assert.deepEqual(counts, summary({ read: 4, new: 1, unchanged: 1, rejected: 2, assumed_utc: 3 }));
  assert.deepEqual(reasonsByLine(rejects), ["4: fill_percentage: must be a number", "5: tank_id: there is no tank with this id"]);
});

test("a CSV file without its header is rejected once", async (t) => {
  const store = await emptyStore(t);
  const task = new Import(store, ({ reason }) => assert.fail(reason));
  const text = "one,2026-01-01,50\none,2026-01-02,50\n";
  await assert.rejects(task.run(bytes(text, 1000), "csv"), {
    message: /^the first line of a CSV file must be the header tank_id,created_at,fill_percentage, not "one,/,
  });
  assert.deepEqual(task.summary, summary({}));
});

test("an empty file imports nothing", async (t) => {
  const store = await emptyStore(t);
  for (const format of ["ndjson", "csv"] as const) {
    for (const text of ["", "\n\n"]) assert.deepEqual((await importText(store, text, format)).rejects, []);
  }
  assert.equal(await store.isEmpty(), true);
});

test("an import whose database becomes unavailable fails, and can be run again", async (t) => {
  const store = await emptyStore(t);
  const text = file(customer("a"), tank("one", "a"), reading("one", 1), customer("b"));
  const lost = storeUnavailable(new Error("lost"));
  const task = new Import({ ...store, importTanks: () => Promise.reject(lost) }, () => {});
  await assert.rejects(task.run(bytes(text, 1000), "ndjson"), lost);
  const { new: created, unchanged, rejected } = (await importText(store, text)).summary;
  assert.deepEqual([created + unchanged, created >= 2, rejected], [4, true, 0]);
});
