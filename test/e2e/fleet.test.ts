// The question of every morning, on the command line.

import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { customer, reading, tank } from "./fixtures.ts";
import { type Cli, cliOn, WAYS } from "./keeping.ts";
import { suiteLifetime } from "./program.ts";

const NOW_ISH = new Date(Date.now() - 5 * 60_000).toISOString();

const FLEET = [
  customer("ada"),
  customer("bob"),
  tank("fine", "ada", { location: { city: "Wien" } }),
  tank("low", "ada", { location: { city: "Graz" }, name: "株式会社 tank" }),
  tank("lowest", "bob", { location: { city: "Graz" }, min_fill_alert_percentage: 50 }),
  tank("silent", "bob"),
  tank("unheard", "bob"),
  { object: "telemetry", tank_id: "fine", created_at: NOW_ISH, fill_percentage: 80 },
  { object: "telemetry", tank_id: "low", created_at: NOW_ISH, fill_percentage: 20 },
  { object: "telemetry", tank_id: "lowest", created_at: NOW_ISH, fill_percentage: 12.25 },
  reading("silent", 0, 55),
];

for (const on of WAYS) {
  suite(`the fleet, on ${on}`, () => {
    const life = suiteLifetime();
    let way: Cli;

    before(async () => {
      way = await cliOn(life, on, FLEET);
    });

    const found = async (...words: string[]): Promise<unknown[]> => (await way.items("fleet", ...words)).map(({ id }) => id);

    test("the most urgent tank is first, one without a reading last", async () => {
      const all = await way.items("fleet");
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
      const [titles = "", ...rows] = (await way.output("fleet")).trimEnd().split("\n");
      assert.match(titles, /^MARGIN +FILL +AGE +NAME +CITY +TANK$/);
      assert.match(rows[0] ?? "", /^ -37\.8 +12\.3 % +[567] min +Tank lowest +Graz +lowest$/);
      assert.match(rows[4] ?? "", /^ +- +- +- +Tank unheard +- +unheard$/);
      const place = titles.indexOf("CITY");
      assert.equal(rows[0]?.indexOf("Graz"), place);
      // Four of the signs before it take two columns each.
      assert.equal(rows[1]?.indexOf("Graz"), place - 4);
    });
  });
}
