// Customers, tanks and the fleet on the command line: on the database itself, or on a running service with --url.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { after, suite, test } from "node:test";
import {
  type Cli,
  cliOnDatabase,
  cliOnService,
  createKey,
  customer,
  jsonLines,
  type Line,
  reading,
  SMALL_FLEET,
  tank,
} from "./fixtures.ts";

const SHAPE = { kind: "upright", height: 2.1, unit: "m", sensor_height: 2.3 };
const NEEDED = ["--capacity", "2700", "--unit", "liters", "--threshold", "20"];
const ids = (items: readonly Line[]): unknown[] => items.map(({ id }) => id);
const fields = (item: Line | undefined, ...names: readonly string[]): unknown[] => names.map((name) => item?.[name]);

/** Runs on either; the other commands differ only in what they send. */
async function createsShowsAndUpdates(cli: Cli): Promise<void> {
  const { code, stdout, stderr } = await cli.run([
    ...["customer", "create", "--name", "Brenner Gas GmbH", "--email", "office@brenner.example"],
    ...["--phone", "+49 30 5550", "--verified"],
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^cus_\w+\n$/);
  assert.match(stderr, /^customer cus_\w+ \(Brenner Gas GmbH\) created\n$/);
  const id = stdout.trim();
  const [created] = await cli.items("customer", "show", id);
  assert.deepEqual(fields(created, "phone", "is_verified", "tank_count", "deleted"), ["+49 30 5550", true, 0, false]);
  const [changed] = await cli.items("customer", "update", id, "--phone", "", "--no-verified");
  assert.deepEqual(fields(changed, "name", "phone", "is_verified"), ["Brenner Gas GmbH", null, false]);
  assert.match(await cli.output("customer", "show", id), /^email +office@brenner\.example$[\s\S]*^phone +-$/m);
}

suite("on a running service", async () => {
  const cli = await cliOnService({ after }, SMALL_FLEET);

  test("list filters tanks by name, city, custom id and owner, and customers by name and e-mail address", async () => {
    assert.deepEqual(ids(await cli.items("tank", "list", "--city", "wie")), ["a1"]);
    assert.deepEqual(ids(await cli.items("tank", "list", "--custom-id", "CELL")), ["a2"]);
    assert.deepEqual(ids(await cli.items("tank", "list", "--owner", "ada")), ["a2", "a1"]);
    const table = await cli.output("tank", "list", "--name", "tank b");
    assert.match(table, /^ID +OWNER +DEVICE +CAPACITY +THRESHOLD +CITY +NAME\nb1 +bob +\S+ +2700 gallons +20 % +- +Tank b1\n$/);
    assert.deepEqual(ids(await cli.items("customer", "list", "--name", "customer a")), ["ada"]);
    assert.deepEqual(ids(await cli.items("customer", "list", "--email", "BOB@")), ["bob"]);
    const { code, stdout, stderr } = await cli.run(["customer", "list", "--name", "nobody & co"]);
    assert.deepEqual([code, stdout, stderr.includes("No customers found")], [0, "", true]);
  });

  test("fleet works with a read key, which sees the tanks of its customer only", async () => {
    const fleetOf = async (...words: readonly string[]) => {
      const key = await createKey(cli.workspace, ...words);
      const env = { TANK_MONITOR_KEY: key, DATABASE_URL: "sqlite:never.db" };
      const { code, stdout, stderr } = await cli.workspace.run(["fleet", "--json", "--url", cli.service.url], { env });
      assert.equal(code, 0, stderr);
      return ids(jsonLines(stdout));
    };
    assert.deepEqual(await fleetOf(), ["b1", "a1", "a2"]);
    assert.deepEqual(await fleetOf("--customer", "ada"), ["a1", "a2"]);
  });

  test("a customer: create prints the id alone, show prints all fields, update changes the given ones", () =>
    createsShowsAndUpdates(cli));

  test("a customer with tanks is deleted and restored with --tanks and --no-tanks", async () => {
    await cli.expectFailure(["customer", "delete", "ada"], /owns 2 tanks.*--tanks/);
    await cli.output("customer", "delete", "ada", "--tanks");
    assert.deepEqual(ids(await cli.items("customer", "list", "--deleted")), ["gone", "ada"]);
    assert.deepEqual(ids(await cli.items("tank", "list", "--owner", "ada")), []);
    assert.match((await cli.run(["customer", "restore", "ada"])).stderr, /customer ada \(.*\) restored, with 2 tanks/);
    assert.deepEqual(ids(await cli.items("tank", "list", "--owner", "ada")), ["a2", "a1"]);
    await cli.output("customer", "create", "--id", "eve", "--name", "Eve", "--email", "eve@x.example");
    await cli.output("tank", "create", "--id", "e1", "--name", "E1", "--owner", "eve", "--device", "device-e1", ...NEEDED);
    await cli.output("customer", "delete", "eve", "--tanks");
    await cli.output("tank", "create", "--id", "e2", "--name", "E2", "--owner", "bob", "--device", "device-e1", ...NEEDED);
    await cli.expectFailure(
      ["customer", "restore", "eve"],
      /device-e1 .*with --no-tanks, then restore each tank \("tank restore ID"\), with another --device where/,
    );
    await cli.output("tank", "delete", "e2");
    const [eve] = await cli.items("customer", "restore", "eve", "--no-tanks");
    assert.deepEqual(fields(eve, "deleted", "tank_count"), [false, 0]);
    await cli.output("tank", "restore", "e1");
    await cli.expectFailure(
      ["customer", "delete", "eve"],
      /owns 1 tank\. Assign it to another customer, or add --tanks to delete it too/,
    );
  });

  test("a customer or tank that is already deleted, or not deleted, is reported as such", async () => {
    const said = async (...words: string[]) => (await cli.run(words)).stderr;
    assert.equal(await said("customer", "restore", "bob"), "customer bob is not deleted\n");
    assert.equal(await said("customer", "delete", "gone"), "customer gone is already deleted\n");
    assert.equal(await said("tank", "restore", "b1"), "tank b1 is not deleted\n");
    assert.equal(await said("tank", "delete", "scrapped"), "tank scrapped is already deleted\n");
  });

  test("a tank: create sets every field; an empty value clears one", async () => {
    writeFileSync(cli.workspace.path("shape.json"), `\ufeff${JSON.stringify(SHAPE)}`);
    const location = { street: "Lange Straße", street_number: "12a", postal_code: "2000", city: "Sydney", district: "Glebe" };
    const flags = Object.entries(location).flatMap(([name, value]) => [`--${name.replace("_", "-")}`, value]);
    const created = await cli.output(
      ...["tank", "create", "--id", "hall-3", "--name", "Hall 3", "--owner", "ada", "--device", "d3", ...NEEDED, ...flags],
      ...["--use-case", "industrial", "--custom-id", "H3", "--region", "NSW", "--country", "Australia"],
      ...["--latitude", "-33.87", "--longitude", "151.2", "--shape", "@shape.json"],
    );
    assert.equal(created, "hall-3\n");
    const [shown] = await cli.items("tank", "show", "hall-3");
    const { created_at, updated_at, ...rest } = shown ?? {};
    assert.deepEqual(rest, {
      ...{ id: "hall-3", object: "tank", name: "Hall 3", owner_id: "ada", assigned_device_id: "d3", custom_id: "H3" },
      ...{ capacity: 2700, capacity_unit: "liters", min_fill_alert_percentage: 20, use_case: "industrial" },
      location: { ...location, region: "NSW", country: "Australia", latitude: -33.87, longitude: 151.2 },
      shape: SHAPE,
      alerts: { silent_after: null, paused_until: null, runs_low_soon: true, leak: true },
      deleted: false,
    });
    const cleared = ["--custom-id", "", "--city", "", "--latitude", "", "--shape", ""];
    const [changed] = await cli.items("tank", "update", "hall-3", "--threshold", "25", ...cleared);
    assert.deepEqual(fields(changed?.["location"] as Line, "city", "latitude", "street"), [null, null, "Lange Straße"]);
    assert.deepEqual(fields(changed, "custom_id", "min_fill_alert_percentage", "shape"), [null, 25, null]);
    assert.match(await cli.output("tank", "show", "hall-3"), /^location\.street +Lange Straße$/m);
  });

  test("a tank is paused until a date, and resumed", async () => {
    const said = (await cli.run(["tank", "pause", "hall-3", "--until", "2199-12-01"])).stderr;
    assert.match(said, /alerts of tank hall-3 \(Hall 3\) are paused until 2199-12-01T00:00:00\.000Z/);
    assert.match(await cli.output("tank", "show", "hall-3"), /^alerts\.paused_until +2199-12-01T00:00:00\.000Z$/m);
    const today = new Date().toISOString().slice(0, 10);
    const started = new RegExp(`--until must be in the future, not "${today}", whose start, midnight UTC, is past`);
    await cli.expectFailure(["tank", "pause", "hall-3", "--until", today], started, 2);
    const resume = async () => (await cli.run(["tank", "resume", "hall-3"])).stderr;
    assert.equal(await resume(), "alerts of tank hall-3 (Hall 3) are resumed\n");
    assert.equal(await resume(), "alerts of tank hall-3 (Hall 3) are not paused\n");
    const [resumed] = await cli.items("tank", "resume", "hall-3");
    assert.deepEqual(resumed?.["alerts"], { silent_after: null, paused_until: null, runs_low_soon: true, leak: true });
    const [paused, on] = [
      ["--paused-until", "2199-12-01"],
      ["--leak-alerts", "on"],
    ];
    const [changed] = await cli.items("tank", "update", "hall-3", "--silent-after", "90m", ...paused, "--leak-alerts", "off");
    assert.deepEqual(changed?.["alerts"], {
      ...{ silent_after: "90m", paused_until: "2199-12-01T00:00:00.000Z" },
      ...{ runs_low_soon: true, leak: false },
    });
    const [cleared] = await cli.items("tank", "update", "hall-3", "--silent-after", "", "--paused-until", "", ...on);
    assert.deepEqual(cleared?.["alerts"], { silent_after: null, paused_until: null, runs_low_soon: true, leak: true });
    const maybe = await cli.run(["tank", "update", "hall-3", "--runs-low-alerts", "maybe"]);
    assert.deepEqual([maybe.code, maybe.stderr], [2, 'tank-monitor: --runs-low-alerts must be on or off, not "maybe"\n']);
    await cli.output("tank", "pause", "hall-3", "--until", "2199-12-01");
    const past = ["tank", "pause", "hall-3", "--until", "2020-01-01"];
    await cli.expectFailure(past, /--until must be in the future, not "2020-01-01"\. .*tank resume/, 2);
    assert.match(await cli.output("tank", "show", "hall-3"), /^alerts\.paused_until +2199-12-01T/m, "it is still paused");
    const wrong = await cli.run(["tank", "pause", "hall-3", "--until", "soon"]);
    assert.deepEqual(
      [wrong.code, /--until must be a date such as .*, or a datetime .*"soon"/.test(wrong.stderr)],
      [2, true],
      wrong.stderr,
    );
  });

  test("all errors are reported at once, by flag, and no database is created", async () => {
    const { code, stdout, stderr } = await cli.run([
      ...["tank", "create", "--name", "x", "--owner", "nobody", "--device", "d9", "--capacity", "2,700", "--unit", "litres"],
      ...["--threshold", "101", "--shape", '{"kind":"upright","height":"2"}'],
    ]);
    assert.deepEqual([code, stdout], [2, ""]);
    const lines = stderr.trimEnd().split("\n").slice(1);
    assert.deepEqual(
      lines.map((line) => line.slice(2, line.indexOf(":"))).toSorted(),
      ["--capacity", "--owner", "--shape (height)", "--shape (unit)", "--threshold", "--unit"],
      stderr,
    );
    assert.equal(existsSync(cli.workspace.path("never.db")), false);
  });

  test("a device in use is rejected without --swap", async () => {
    await cli.expectFailure(["tank", "update", "a1", "--device", "device-b1"], /device-b1 is assigned to tank b1.*--swap/);
    await cli.output("tank", "update", "a1", "--device", "device-b1", "--swap");
    assert.deepEqual(ids(await cli.items("tank", "list", "--device", "device-a1")), ["b1"]);
    assert.deepEqual(ids(await cli.items("tank", "list", "--device", "device-b1")), ["a1"]);
  });

  test("a deleted tank is restored, with another device if its own is assigned to another tank", async () => {
    await cli.output("tank", "delete", "a2");
    assert.ok(ids(await cli.items("tank", "list", "--deleted")).includes("a2"));
    await cli.output("tank", "create", "--id", "new", "--name", "New", "--owner", "bob", "--device", "device-a2", ...NEEDED);
    await cli.expectFailure(["tank", "restore", "a2"], /device-a2.*another --device/);
    const [restored] = await cli.items("tank", "restore", "a2", "--device", "d4");
    assert.deepEqual(fields(restored, "deleted", "assigned_device_id", "name"), [false, "d4", "Tank a2"]);
  });
});

test("a list of several pages has every customer once, newest first, up to --limit, in aligned columns", async (t) => {
  const COUNT = 350;
  const createdAt = (i: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, i)).toISOString();
  const customers = Array.from({ length: COUNT }, (_, i) => customer(`c${i}`, { created_at: createdAt(i) }));
  const cli = await cliOnDatabase(t, [...customers, tank("t1", "c7")]);
  const newestFirst = ids(customers).toReversed();
  assert.deepEqual(ids(await cli.items("customer", "list")), newestFirst);
  assert.deepEqual(ids(await cli.items("customer", "list", "--limit", "101")), newestFirst.slice(0, 101));
  const [titles, ...rows] = (await cli.output("customer", "list")).trimEnd().split("\n");
  assert.match(titles ?? "", /^ID +TANKS +EMAIL +NAME$/);
  assert.equal(rows.length, COUNT);
  assert.equal(new Set(rows.map((row) => row.indexOf("Customer c"))).size, 1);
  assert.match(rows.find((row) => row.startsWith("c7 ")) ?? "", /^c7 +1 /);
});

suite("on the database", async () => {
  const FIVE_MINUTES_AGO = new Date(Date.now() - 5 * 60_000).toISOString();
  const latest = (tank_id: string, fill_percentage: number): Line => ({
    ...{ object: "telemetry", tank_id, created_at: FIVE_MINUTES_AGO, fill_percentage },
  });
  const FLEET = [
    ...[customer("ada"), customer("bob", { phone: "+49 30 5550" }), tank("silent", "bob"), tank("unheard", "bob")],
    tank("fine", "ada", { location: { city: "Wien" } }),
    tank("low", "ada", { location: { city: "Graz" }, name: "株式会社 tank" }),
    tank("lowest", "bob", {
      location: { street: "Lange Gasse", street_number: "12b", city: "Graz" },
      min_fill_alert_percentage: 50,
    }),
    ...[latest("fine", 80), latest("low", 20), latest("lowest", 12.25), reading("silent", 0, 55)],
  ];
  const cli = await cliOnDatabase({ after }, FLEET);

  test("a customer is created, shown and updated", () => createsShowsAndUpdates(cli));

  test("fleet: the most urgent tank is first, one without a reading last", async () => {
    const all = await cli.items("fleet");
    assert.deepEqual(
      all.map((item) => fields(item, "id", "state", "margin")),
      [
        ["lowest", "low", -37.75],
        ["low", "low", 0],
        ["silent", "ok", 35],
        ["fine", "ok", 60],
        ["unheard", "unknown", null],
      ],
    );
  });

  test("fleet is filtered by state, silence, owner and city", async () => {
    const filtered = async (...words: string[]): Promise<unknown[]> => ids(await cli.items("fleet", ...words));
    assert.deepEqual(await filtered("--state", "low"), ["lowest", "low"]);
    assert.deepEqual(await filtered("--state", "unknown"), ["unheard"]);
    assert.deepEqual(await filtered("--silent", "24h"), ["silent", "unheard"]);
    assert.deepEqual(await filtered("--sort", "silent", "--limit", "2"), ["unheard", "silent"]);
    assert.deepEqual(await filtered("--owner", "ada"), ["low", "fine"]);
    assert.deepEqual(await filtered("--city", "graz", "--limit", "1"), ["lowest"]);
  });

  test("fleet as CSV has what a route planner needs", async () => {
    const [titles = "", first = ""] = (await cli.output("fleet", "--csv", "--limit", "1")).trimEnd().split("\n");
    const [names, values] = [titles.split(","), first.split(",")];
    const cell = (name: string): string | undefined => values[names.indexOf(name)];
    const expected = {
      ...{ tank_id: "lowest", state: "low", silent: "false", days_left_p50: "0", fill_percentage: "12.25", unit: "liters" },
      ...{ remaining: "330.75", room: "2369.25", street: "Lange Gasse", street_number: "12b", city: "Graz" },
      ...{ customer_id: "bob", customer: "Customer bob", phone: "+49 30 5550" },
    };
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, cell(name)])), expected);
    assert.match(cell("measured_at") ?? "", /^\d{4}-\d\d-\d\d \d\d:\d\d$/);
    const times = ["low", "empty"].flatMap((what) => ["p10", "p50", "p90"].map((part) => `runs_${what}_at_${part}`));
    assert.deepEqual(
      names.filter((name) => name.startsWith("runs_")),
      times,
    );
    assert.equal(names.length, values.length);
  });

  test("fleet as a table has aligned columns, also with wide characters", async () => {
    const [titles = "", ...rows] = (await cli.output("fleet")).trimEnd().split("\n");
    assert.match(titles, /^DAYS LEFT +MARGIN +FILL +REMAINING +ROOM +AGE +NAME +ADDRESS +CUSTOMER +PHONE +TANK$/);
    assert.match(rows[0] ?? "", /^ +low now +-37\.8 +12\.3 % +331 liters +2369 liters +\d+ min +Tank lowest +/);
    assert.match(rows[0] ?? "", /Tank lowest +Lange Gasse 12b, Graz +Customer bob +\+49 30 5550 +lowest$/);
    assert.match(rows[2] ?? "", / \d+ d silent +Tank silent +- +Customer bob /);
    assert.match(rows[4] ?? "", /^ +- +- +- +- +- +- +Tank unheard +- +Customer bob +\S.* +unheard$/);
    const column = titles.indexOf("ADDRESS");
    assert.equal(rows[0]?.indexOf("Lange Gasse"), column);
    // Four of the characters before it take two columns each.
    assert.equal(rows[1]?.indexOf("Graz"), column - 4);
  });
});
