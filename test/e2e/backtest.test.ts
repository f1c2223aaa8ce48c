// backtest, on files and on the database.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { customer, importLines, reading, tank } from "./fixtures.ts";
import { workspace } from "./program.ts";

const START = Date.UTC(2025, 0, 1);
const DAY = 86_400_000;
const dayOf = (day: number): string => new Date(START + day * DAY).toISOString();
const file = (days: number, use: number): string =>
  `date,percent\n${Array.from({ length: days }, (_, day) => `${dayOf(day).slice(0, 10)},${(95 - use * day).toFixed(2)}\n`).join("")}`;

suite("backtest", () => {
  test("files are tanks; --json has figures of all and of each", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("a.csv"), file(80, 0.5));
    writeFileSync(
      here.path("b.csv"),
      file(60, 0.2)
        .replace("date,percent\n", "")
        .replaceAll(/(\d{4}-\d\d-\d\d)/g, "$1T08:30"),
    );
    const { code, stdout } = await here.run(["backtest", "--horizon", "30", "--latitude", "-33.9", "--json", "a.csv", "b.csv"]);
    assert.equal(code, 0);
    const result = JSON.parse(stdout);
    assert.deepEqual([result.horizon_days, result.tanks, result.origins, result.skipped], [30, 2, 68, 0]);
    for (const name of ["mean_absolute_error", "mean_absolute_error_14_day_average", "inside_range"]) {
      assert.equal(typeof result[name], "number", name);
    }
    assert.ok("ratio" in result);
    const details = result.tanks_detail.map(({ name, origins }: { name: string; origins: number }) => [name, origins]);
    assert.deepEqual(details, [
      ["a", 44],
      ["b", 24],
    ]);
    const text = await here.run(["backtest", "--horizon", "7", "a.csv", "b.csv"]);
    assert.match(text.stdout, /^2 tanks, 114 forecasts of the level 7 days ahead\.\n/);
    assert.match(text.stdout, /Within the 10–90 % range: \d+ %/);
  });

  test("files of the same name are told apart by their paths", async (t) => {
    const here = workspace(t);
    const files = ["north/tank.csv", "south/tank.csv", "OTHER.CSV"];
    for (const folder of ["north", "south"]) mkdirSync(here.path(folder));
    for (const name of files) writeFileSync(here.path(name), file(40, 0.5));
    const { stdout } = await here.run(["backtest", "--json", ...files]);
    const names = JSON.parse(stdout).tanks_detail.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ["north/tank.csv", "south/tank.csv", "OTHER"]);
  });

  test("what is wrong with a file is said with its line, and what is wrong with a flag by its name", async (t) => {
    const here = workspace(t);
    for (const [content, error] of [
      [
        "date,percent\n2025-01-01,50\n2025-01-32,50\n",
        'x.csv:3: "2025-01-32" is not a date such as 2026-11-14 or 14.11.2026, or a datetime such as 2026-11-14T09:30:00Z',
      ],
      ["2025-01-01,150\n", 'x.csv:1: percent must be a number from 0 to 100, not "150"'],
      ["date,percent\n2025-01-01,\n", 'x.csv:2: percent must be a number from 0 to 100, not ""'],
      ["date,percent\n2025-01-01,5,6\n", "x.csv:2: two cells are expected, date and percent, not 3"],
      ['date,percent\n2025-01-01,"5\n', "x.csv:2: the row has an unclosed or misplaced quote"],
      ["date,percent\n", "x.csv: there are no levels in it"],
    ] as const) {
      writeFileSync(here.path("x.csv"), content);
      const { code, stderr } = await here.run(["backtest", "x.csv"]);
      assert.deepEqual([code, stderr], [1, `tank-monitor: ${error}\n`]);
    }
    writeFileSync(here.path("x.xlsx"), Buffer.from("PK\x03\x04 ..."));
    const excel = await here.run(["backtest", "x.xlsx"]);
    assert.equal(excel.code, 1);
    assert.match(excel.stderr, /^tank-monitor: x\.xlsx: this is an Excel file,.* save the sheet as "CSV UTF-8"/);
    assert.match((await here.run(["backtest", "none.csv"])).stderr, /no such file: none\.csv/);
    writeFileSync(here.path("x.csv"), "2025-01-01;62.125\n");
    assert.match((await here.run(["backtest", "x.csv"])).stderr, /x\.csv:1: 62\.125 may be .*--decimal-point/);
    assert.equal((await here.run(["backtest", "--decimal-point", "x.csv"])).code, 0);
    for (const [flag, value] of [
      ["horizon", "0"],
      ["horizon", "1.5"],
      ["latitude", "91"],
      ["latitude", "north"],
    ] as const) {
      const { code, stderr } = await here.run(["backtest", `--${flag}`, value, "x.csv"]);
      assert.equal(code, 2);
      assert.match(stderr, new RegExp(`--${flag} must be`));
    }
  });

  test("dates and numbers are read as import reads them", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("iso.csv"), file(60, 0.5));
    const german = file(60, 0.5)
      .replace("date,percent", "Datum;Stand")
      .replaceAll(
        /^(\d{4})-(\d\d)-(\d\d),(.*)$/gm,
        (_, year, month, day, level) => `${day}.${month}.${year};${level.replace(".", ",")}`,
      );
    assert.match(german, /^01\.\d\d\.\d{4};\d/m);
    writeFileSync(here.path("german.csv"), german);
    writeFileSync(here.path("minutes.csv"), german.replaceAll(";", " 00:00;").replace("Datum 00:00", "Datum"));
    writeFileSync(here.path("quoted.csv"), german.replace("Stand", "Tank 1").replaceAll(/^(.*);(.*)$/gm, '"$1","$2"'));
    writeFileSync(here.path("zone.csv"), `\n${german.replace("Datum", "Datum (UTC+1)")}`);
    const postgres = file(60, 0.5).replaceAll(/^(\d{4}-\d\d-\d\d)/gm, "$1 00:00:00+00");
    writeFileSync(here.path("postgres.csv"), postgres.replace("date,percent", "created_at,fill_percentage"));
    const [expected, ...others] = await Promise.all(
      ["iso.csv", "german.csv", "minutes.csv", "--decimal-comma quoted.csv", "zone.csv", "postgres.csv"].map((files) =>
        here.run(["backtest", "--horizon", "7", ...files.split(" ")]),
      ),
    );
    assert.equal(expected?.code, 0);
    for (const { stdout, stderr } of others) assert.equal(stdout, expected?.stdout, stderr);
  });

  test("too little history is reported with the days that are needed", async (t) => {
    const here = workspace(t);
    writeFileSync(here.path("short.csv"), file(2, 0.5));
    const { code, stderr } = await here.run(["backtest", "short.csv"]);
    assert.equal(code, 0);
    assert.match(stderr, /at least 36 days of readings without a refill: 6 before a forecast, and 30 after it \(--horizon\)/);
    assert.match(stderr, /The longest history has 1 day\.$/m);
    writeFileSync(here.path("enough.csv"), file(37, 0.5));
    assert.match((await here.run(["backtest", "enough.csv"])).stdout, /^1 tank, 1 forecast of/);
    const lines = file(100, 0.5).split("\n");
    writeFileSync(here.path("weekly.csv"), lines.filter((_, i) => i % 7 === 0).join("\n"));
    const weekly = await here.run(["backtest", "weekly.csv"]);
    assert.match(
      weekly.stderr,
      /^No day had a reading 30 to 33 days later without a refill in between\..* weekly readings, .* --horizon 28\./,
    );
    assert.match((await here.run(["backtest", "--horizon", "28", "weekly.csv"])).stdout, /^1 tank, [1-9]\d* forecasts of/);
    writeFileSync(here.path("unused.csv"), file(100, 0));
    const unused = await here.run(["backtest", "unused.csv"]);
    assert.match(unused.stdout, /On 64 more days there was no forecast, .*no use\.$/m);
    assert.equal(unused.stderr, "");
  });

  test("without files, on the tanks of the database that are not deleted", async (t) => {
    const here = workspace(t);
    const readings = ["t1", "t2"].flatMap((id) =>
      Array.from({ length: 60 }, (_, day) => reading(id, day * 1440, 95 - 0.5 * day)),
    );
    await importLines(here, [customer("ada"), tank("t1", "ada"), tank("t2", "ada"), ...readings]);
    await here.run(["tank", "delete", "t2"]);
    const { code, stdout } = await here.run(["backtest", "--json"]);
    assert.equal(code, 0);
    const { tanks, origins, tanks_detail, mean_absolute_error } = JSON.parse(stdout);
    assert.deepEqual([tanks, origins, tanks_detail[0]?.name], [1, 24, "t1"]);
    const withSeason = JSON.parse((await here.run(["backtest", "--json", "--latitude", "48"])).stdout);
    assert.notEqual(withSeason.mean_absolute_error, mean_absolute_error, "a tank without a latitude has no season");
  });
});
