// Customers, tanks and the fleet on the command line: on the database itself, or on a running service with --url.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { before, suite, test } from "node:test";
import { type Cli, cliOnDatabase, cliOnService, customer, type Line, reading, SMALL_FLEET, tank } from "./fixtures.ts";
import { suiteLifetime } from "./program.ts";

const SHAPE = { kind: "upright", height: 2.1, unit: "m", sensor_height: 2.3 };
const NEEDED = ["--capacity", "2700", "--unit", "liters", "--threshold", "20"];
const ids = (items: readonly Line[]): unknown[] => items.map(({ id }) => id);

for (const [name, cliOn] of [
  ["the database", cliOnDatabase],
  ["a running service", cliOnService],
] as const) {
  suite(`customers, on ${name}`, () => {
    const life = suiteLifetime();
    let cli: Cli;

    before(async () => {
      cli = await cliOn(life, SMALL_FLEET);
    });

    test("create prints the id alone, show prints all fields, update changes the given ones", async () => {
      const { code, stdout, stderr } = await cli.run([
        ...["customer", "create", "--name", "Brenner Gas GmbH", "--email", "office@brenner.example"],
        ...["--phone", "+49 30 5550", "--verified"],
      ]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^cus_\w+\n$/);
      assert.match(stderr, /^customer cus_\w+ \(Brenner Gas GmbH\) created\n$/);
      const id = stdout.trim();
      const [made] = await cli.items("customer", "show", id);
      assert.deepEqual(
        [made?.["name"], made?.["phone"], made?.["is_verified"], made?.["tank_count"], made?.["deleted"]],
        ["Brenner Gas GmbH", "+49 30 5550", true, 0, false],
      );
      const [changed] = await cli.items("customer", "update", id, "--phone", "", "--no-verified");
      assert.deepEqual(
        [changed?.["name"], changed?.["phone"], changed?.["is_verified"], changed?.["verified_at"]],
        ["Brenner Gas GmbH", null, false, null],
      );
      const shown = await cli.output("customer", "show", id);
      assert.match(shown, /^email +office@brenner\.example$/m);
      assert.match(shown, /^phone +-$/m);
    });

    test("a customer with tanks is deleted and restored with --tanks and --no-tanks", async () => {
      await cli.expectFailure(["customer", "delete", "ada"], /owns 2 tanks.*--tanks/);
      await cli.output("customer", "delete", "ada", "--tanks");
      assert.deepEqual(ids(await cli.items("customer", "list", "--deleted")), ["gone", "ada"]);
      assert.deepEqual(ids(await cli.items("tank", "list", "--owner", "ada")), []);
      const { stderr } = await cli.run(["customer", "restore", "ada"]);
      assert.match(stderr, /customer ada \(.*\) restored, with 2 tanks/);
      assert.deepEqual(ids(await cli.items("tank", "list", "--owner", "ada")), ["a2", "a1"]);
      await cli.output("customer", "delete", "bob", "--tanks");
      const [bob] = await cli.items("customer", "restore", "bob", "--no-tanks");
      assert.deepEqual([bob?.["deleted"], bob?.["tank_count"]], [false, 0]);
    });

    test("list filters by the start of a name or e-mail address", async () => {
      assert.deepEqual(ids(await cli.items("customer", "list", "--name", "customer a")), ["ada"]);
      assert.deepEqual(ids(await cli.items("customer", "list", "--email", "BOB@")), ["bob"]);
      const { code, stdout, stderr } = await cli.run(["customer", "list", "--name", "nobody & co"]);
      assert.deepEqual([code, stdout], [0, ""]);
      assert.match(stderr, /No customers found/);
    });

    test("all errors are reported at once, by flag", async () => {
      const { code, stdout, stderr } = await cli.run(["customer", "create", "--name", "", "--email", "nowhere"]);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, /^tank-monitor: customer create: 2 errors\n( {2}--(name|email): .+\n){2}$/);
      assert.equal(existsSync(cli.workspace.path("never.db")), false);
    });
  });
}

suite("a long list of customers", () => {
  const life = suiteLifetime();
  let cli: Cli;
  const COUNT = 350;

  before(async () => {
    const created_at = (i: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, i)).toISOString();
    const lines = Array.from({ length: COUNT }, (_, i) => customer(`c${i}`, { created_at: created_at(i) }));
    cli = await cliOnService(life, [...lines, tank("t1", "c7")]);
  });

  test("prints every customer once, newest first, up to --limit", async () => {
    const all = await cli.items("customer", "list");
    assert.deepEqual(
      ids(all),
      Array.from({ length: COUNT }, (_, i) => `c${COUNT - 1 - i}`),
    );
    assert.deepEqual(ids(await cli.items("customer", "list", "--limit", "101")), ids(all).slice(0, 101));
  });

  test("aligns the columns of a table across pages", async () => {
    const lines = (await cli.output("customer", "list")).trimEnd().split("\n");
    assert.equal(lines.length, COUNT + 1);
    assert.match(lines[0] ?? "", /^ID +TANKS +EMAIL +NAME$/);
    assert.equal(new Set(lines.slice(1).map((line) => line.indexOf("Customer c"))).size, 1);
    assert.match(lines.find((line) => line.startsWith("c7 ")) ?? "", /^c7 +1 /);
  });
});

suite("tanks, on a running service", () => {
  const life = suiteLifetime();
  let cli: Cli;

  before(async () => {
    cli = await cliOnService(life, SMALL_FLEET);
  });

  test("create sets every field; an empty value clears one", async () => {
    writeFileSync(cli.workspace.path("shape.json"), `\ufeff${JSON.stringify(SHAPE)}`);
    const made = await cli.output(
      ...["tank", "create", "--id", "hall-3", "--name", "Hall 3", "--owner", "ada", "--device", "d3", ...NEEDED],
      ...["--use-case", "industrial", "--custom-id", "H3", "--street", "Lange Straße", "--street-number", "12a"],
      ...["--postal-code", "2000", "--city", "Sydney", "--district", "Glebe", "--region", "NSW", "--country", "Australia"],
      ...["--latitude", "-33.87", "--longitude", "151.2", "--shape", "@shape.json"],
    );
    assert.equal(made, "hall-3\n");
    const [tank] = await cli.items("tank", "show", "hall-3");
    const { created_at, updated_at, ...rest } = tank ?? {};
    assert.deepEqual(rest, {
      id: "hall-3",
      object: "tank",
      assigned_device_id: "d3",
      capacity: 2700,
      capacity_unit: "liters",
      custom_id: "H3",
      location: {
        city: "Sydney",
        country: "Australia",
        district: "Glebe",
        latitude: -33.87,
        longitude: 151.2,
        postal_code: "2000",
        region: "NSW",
        street: "Lange Straße",
        street_number: "12a",
      },
      min_fill_alert_percentage: 20,
      name: "Hall 3",
      owner_id: "ada",
      use_case: "industrial",
      shape: SHAPE,
      deleted: false,
    });
    const [changed] = await cli.items(
      ...["tank", "update", "hall-3", "--custom-id", "", "--city", "", "--latitude", "", "--threshold", "25", "--shape", ""],
    );
    const { city, latitude, street } = (changed?.["location"] ?? {}) as Record<string, unknown>;
    assert.deepEqual([city, latitude, street], [null, null, "Lange Straße"]);
    assert.deepEqual([changed?.["custom_id"], changed?.["min_fill_alert_percentage"], changed?.["shape"]], [null, 25, null]);
    assert.match(await cli.output("tank", "show", "hall-3"), /^location\.street +Lange Straße$/m);
  });

  test("all errors are reported at once, by flag", async () => {
    const { code, stderr } = await cli.run([
      ...["tank", "create", "--name", "x", "--owner", "nobody", "--device", "d9", "--capacity", "2,700", "--unit", "litres"],
      ...["--threshold", "101", "--shape", '{"kind":"upright","height":"2"}'],
    ]);
    assert.equal(code, 2);
    for (const line of [
      /^ {2}--owner: .*"nobody"/m,
      /^ {2}--capacity: .*"2,700"/m,
      /^ {2}--unit: .*liters, gallons.*"litres"/m,
      /^ {2}--threshold: .*"101"/m,
      /^ {2}--shape \(height\): /m,
      /^ {2}--shape \(unit\): /m,
    ]) {
      assert.match(stderr, line);
    }
  });

  test("a device in use is rejected without --swap", async () => {
    await cli.expectFailure(["tank", "update", "a1", "--device", "device-b1"], /device-b1 serves tank b1.*--swap/);
    await cli.output("tank", "update", "a1", "--device", "device-b1", "--swap");
    assert.deepEqual(ids(await cli.items("tank", "list", "--device", "device-a1")), ["b1"]);
    assert.deepEqual(ids(await cli.items("tank", "list", "--device", "device-b1")), ["a1"]);
  });

  test("a deleted tank is restored, with another device if its own serves another tank", async () => {
    await cli.output("tank", "delete", "a2");
    assert.ok(ids(await cli.items("tank", "list", "--deleted")).includes("a2"));
    await cli.output("tank", "create", "--id", "new", "--name", "New", "--owner", "bob", "--device", "device-a2", ...NEEDED);
    await cli.expectFailure(["tank", "restore", "a2"], /device-a2.*another --device/);
    const [tank] = await cli.items("tank", "restore", "a2", "--device", "d4");
    assert.deepEqual([tank?.["deleted"], tank?.["assigned_device_id"], tank?.["name"]], [false, "d4", "Tank a2"]);
  });

  test("list filters by name, city, custom id and owner", async () => {
    assert.deepEqual(ids(await cli.items("tank", "list", "--city", "wie")), ["a1"]);
    assert.deepEqual(ids(await cli.items("tank", "list", "--custom-id", "CELL")), ["a2"]);
    assert.deepEqual(ids(await cli.items("tank", "list", "--name", "tank b")), ["b1"]);
    assert.ok(ids(await cli.items("tank", "list", "--owner", "ada")).includes("a1"));
    const table = await cli.output("tank", "list", "--name", "tank b");
    assert.match(table, /^ID +OWNER +DEVICE +CAPACITY +ALERT +CITY +NAME\nb1 +bob +\S+ +2700 gallons +20 % +- +Tank b1\n$/);
  });
});

const FIVE_MINUTES_AGO = new Date(Date.now() - 5 * 60_000).toISOString();

const FLEET = [
  customer("ada"),
  customer("bob"),
  tank("fine", "ada", { location: { city: "Wien" } }),
  tank("low", "ada", { location: { city: "Graz" }, name: "株式会社 tank" }),
  tank("lowest", "bob", { location: { city: "Graz" }, min_fill_alert_percentage: 50 }),
  tank("silent", "bob"),
  tank("unheard", "bob"),
  { object: "telemetry", tank_id: "fine", created_at: FIVE_MINUTES_AGO, fill_percentage: 80 },
  { object: "telemetry", tank_id: "low", created_at: FIVE_MINUTES_AGO, fill_percentage: 20 },
  { object: "telemetry", tank_id: "lowest", created_at: FIVE_MINUTES_AGO, fill_percentage: 12.25 },
  reading("silent", 0, 55),
];

suite("the fleet, on the database", () => {
  const life = suiteLifetime();
  let cli: Cli;

  before(async () => {
    cli = await cliOnDatabase(life, FLEET);
  });

  const found = async (...words: string[]): Promise<unknown[]> => (await cli.items("fleet", ...words)).map(({ id }) => id);

  test("the most urgent tank is first, one without a reading last", async () => {
    const all = await cli.items("fleet");
    assert.deepEqual(
      all.map(({ id, state, margin }) => [id, state, margin]),
      [
        ["lowest", "low", -37.75],
        ["low", "low", 0],
        ["silent", "ok", 35],
        ["fine", "ok", 60],
        ["unheard", "unknown", null],
      ],
    );
  });

  test("is narrowed down by state, silence, owner and city", async () => {
    assert.deepEqual(await found("--state", "low"), ["lowest", "low"]);
    assert.deepEqual(await found("--state", "unknown"), ["unheard"]);
    assert.deepEqual(await found("--silent", "24h"), ["silent", "unheard"]);
    assert.deepEqual(await found("--owner", "ada"), ["low", "fine"]);
    assert.deepEqual(await found("--city", "graz", "--limit", "1"), ["lowest"]);
  });

  test("as a table its columns stand one below the other, also where signs are two columns wide", async () => {
    const [titles = "", ...rows] = (await cli.output("fleet")).trimEnd().split("\n");
    assert.match(titles, /^MARGIN +FILL +AGE +NAME +CITY +TANK$/);
    assert.match(rows[0] ?? "", /^ -37\.8 +12\.3 % +[567] min +Tank lowest +Graz +lowest$/);
    assert.match(rows[4] ?? "", /^ +- +- +- +Tank unheard +- +unheard$/);
    const place = titles.indexOf("CITY");
    assert.equal(rows[0]?.indexOf("Graz"), place);
    // Four of the signs before it take two columns each.
    assert.equal(rows[1]?.indexOf("Graz"), place - 4);
  });
});
