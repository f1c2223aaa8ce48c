// Tanks kept by the command line.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { before, suite, test } from "node:test";
import { SMALL_FLEET } from "./fleet.ts";
import { keeping, refused, WAYS, type Way } from "./keeping.ts";
import { sharedLife } from "./program.ts";

const SHAPE = { kind: "upright", height: 2.1, unit: "m", sensor_height: 2.3 };
const NEEDED = ["--capacity", "2700", "--unit", "liters", "--threshold", "20"];
const ids = (items: readonly { readonly [name: string]: unknown }[]): unknown[] => items.map(({ id }) => id);

for (const on of WAYS) {
  suite(`tanks, on ${on}`, () => {
    const life = sharedLife();
    let way: Way;

    before(async () => {
      way = await keeping(life, on, SMALL_FLEET);
    });

    test("create sets every field; an empty value clears one", async () => {
      writeFileSync(way.here.path("shape.json"), `\ufeff${JSON.stringify(SHAPE)}`);
      const made = await way.done(
        ...["tank", "create", "--id", "hall-3", "--name", "Hall 3", "--owner", "ada", "--device", "d3", ...NEEDED],
        ...["--use-case", "industrial", "--custom-id", "H3", "--street", "Lange Straße", "--street-number", "12a"],
        ...["--postal-code", "2000", "--city", "Sydney", "--district", "Glebe", "--region", "NSW", "--country", "Australia"],
        ...["--latitude", "-33.87", "--longitude", "151.2", "--shape", "@shape.json"],
      );
      assert.equal(made, "hall-3\n");
      const [tank] = await way.items("tank", "show", "hall-3");
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
      const [changed] = await way.items(
        ...["tank", "update", "hall-3", "--custom-id", "", "--city", "", "--latitude", "", "--threshold", "25", "--shape", ""],
      );
      const { city, latitude, street } = (changed?.["location"] ?? {}) as Record<string, unknown>;
      assert.deepEqual([city, latitude, street], [null, null, "Lange Straße"]);
      assert.deepEqual([changed?.["custom_id"], changed?.["min_fill_alert_percentage"], changed?.["shape"]], [null, 25, null]);
      assert.match(await way.done("tank", "show", "hall-3"), /^location\.street +Lange Straße$/m);
    });

    test("all errors are reported at once, by flag", async () => {
      const { code, stderr } = await way.run([
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
      await refused(way, ["tank", "update", "a1", "--device", "device-b1"], /device-b1 is assigned to tank b1.*--swap/);
      await way.done("tank", "update", "a1", "--device", "device-b1", "--swap");
      assert.deepEqual(ids(await way.items("tank", "list", "--device", "device-a1")), ["b1"]);
      assert.deepEqual(ids(await way.items("tank", "list", "--device", "device-b1")), ["a1"]);
    });

    test("a deleted tank is restored, with another device if its own serves another tank", async () => {
      await way.done("tank", "delete", "a2");
      assert.ok(ids(await way.items("tank", "list", "--deleted")).includes("a2"));
      await way.done("tank", "create", "--id", "new", "--name", "New", "--owner", "bob", "--device", "device-a2", ...NEEDED);
      await refused(way, ["tank", "restore", "a2"], /device-a2.*another --device/);
      const [tank] = await way.items("tank", "restore", "a2", "--device", "d4");
      assert.deepEqual([tank?.["deleted"], tank?.["assigned_device_id"], tank?.["name"]], [false, "d4", "Tank a2"]);
    });

    test("list filters by name, city, custom id and owner", async () => {
      assert.deepEqual(ids(await way.items("tank", "list", "--city", "wie")), ["a1"]);
      assert.deepEqual(ids(await way.items("tank", "list", "--custom-id", "CELL")), ["a2"]);
      assert.deepEqual(ids(await way.items("tank", "list", "--name", "tank b")), ["b1"]);
      assert.ok(ids(await way.items("tank", "list", "--owner", "ada")).includes("a1"));
      const table = await way.done("tank", "list", "--name", "tank b");
      assert.match(table, /^ID +OWNER +DEVICE +CAPACITY +ALERT +CITY +NAME\nb1 +bob +\S+ +2700 gallons +20 % +- +Tank b1\n$/);
    });
  });
}
