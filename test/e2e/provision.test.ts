// provision: customers and tanks from CSV files; nothing is written if a row has an error.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, suite, test } from "node:test";
import { cliOnDatabase, cliOnService, SMALL_FLEET } from "./fixtures.ts";
import type { ExitResult } from "./program.ts";

const BOM = "\ufeff";
/** As a German spreadsheet program writes it. */
const CUSTOMERS = `${BOM}ID;Email;Name;Phone\r\nmueller;info@mueller.example;"Müller; ""Söhne"" GmbH";+49 30 5550\r\nada;;Ada Lovelace;\r\n;;;\r\n`;
const SHAPE = '"{""kind"":""upright"",""height"":2.1,""unit"":""m""}"';
const TANKS = [
  "id,owner_id,assigned_device_id,name,capacity,capacity_unit,min_fill_alert_percentage,city,location.latitude,shape,use_case",
  `hall-1,mueller,d-1,Hall 1,2700,liters,20,"Bern, West",-33.5,${SHAPE},`,
  "hall-2,mueller,d-2,Hall 2,1e3,gallons,0,,,,industrial",
].join("\n");

suite("provisioning, on a running service", async () => {
  const cli = await cliOnService({ after }, SMALL_FLEET);
  writeFileSync(cli.workspace.path("customers.csv"), CUSTOMERS);
  writeFileSync(cli.workspace.path("tanks.csv"), TANKS);

  function provision(text: string, ...words: string[]): Promise<ExitResult> {
    writeFileSync(cli.workspace.path("x.csv"), text);
    return cli.run(["provision", "x.csv", ...words]);
  }

  test("a dry run writes nothing, then everything is written, and a second run changes nothing", async () => {
    const dry = await cli.run(["provision", "customers.csv", "tanks.csv", "--dry-run"]);
    assert.equal(dry.code, 0, dry.stderr);
    assert.match(
      dry.stdout,
      /^customers\.csv:3: ada: name "Customer ada" → "Ada Lovelace"\ncustomers: 1 new, 1 changed, 0 unchanged; tanks: 2 new, 0 changed, 0 unchanged \(dry run/,
    );
    assert.equal((await cli.run(["customer", "show", "mueller"])).code, 1);

    const [done] = await cli.items("provision", "customers.csv", "tanks.csv");
    assert.deepEqual(done?.["customers"], { new: 1, changed: 1, unchanged: 0 });
    assert.deepEqual(done?.["tanks"], { new: 2, changed: 0, unchanged: 0 });
    const [again] = await cli.items("provision", "customers.csv", "tanks.csv");
    assert.deepEqual(again?.["customers"], { new: 0, changed: 0, unchanged: 2 });
    assert.deepEqual(again?.["tanks"], { new: 0, changed: 0, unchanged: 2 });

    const [mueller] = await cli.items("customer", "show", "mueller");
    assert.deepEqual([mueller?.["name"], mueller?.["tank_count"]], ['Müller; "Söhne" GmbH', 2]);
    const [ada] = await cli.items("customer", "show", "ada");
    assert.deepEqual([ada?.["name"], ada?.["phone"]], ["Ada Lovelace", "+43 1 234"], "an empty cell changes nothing");
    const [hall] = await cli.items("tank", "show", "hall-1");
    const { city, latitude } = (hall?.["location"] ?? {}) as Record<string, unknown>;
    assert.deepEqual([city, latitude, hall?.["capacity"]], ["Bern, West", -33.5, 2700]);
    assert.deepEqual(hall?.["shape"], { kind: "upright", height: 2.1, unit: "m" });
  });

  test("a few columns are enough for known tanks", async () => {
    const { code, stdout, stderr } = await provision("id,min_fill_alert_percentage\na1,31\nb1,32\n");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^x\.csv:2: a1: min_fill_alert_percentage 20 → 31\nx\.csv:3: b1: .* 20 → 32\n.*tanks: 0 new, 2 changed/);
    const [tank] = await cli.items("tank", "show", "b1");
    assert.deepEqual([tank?.["min_fill_alert_percentage"], tank?.["owner_id"]], [32, "bob"]);
  });

  test("a German sheet: decimal commas are numbers, a point that may separate thousands needs a flag", async () => {
    const sheet = (capacity: string) =>
      `${BOM}id;owner_id;assigned_device_id;name;capacity;capacity_unit;min_fill_alert_percentage;latitude\r\nde-1;ada;de-1;Halle;${capacity};liters;20;47,993\r\n`;
    const refused = await provision(sheet("1.200"));
    assert.deepEqual([refused.code, refused.stdout], [1, ""]);
    assert.equal(
      refused.stderr,
      "tank-monitor: nothing was written: x.csv:2: capacity: 1.200 may be 1200 or 1.2; give --decimal-comma or --decimal-point\n",
    );
    for (const [capacity, flags, value] of [
      ["1,5", [], 1.5],
      ["1.200", ["--decimal-comma"], 1200],
      ["1.200,5", [], 1200.5],
    ] as const) {
      const { code, stderr } = await provision(sheet(capacity), ...flags);
      assert.equal(code, 0, stderr);
      const [tank] = await cli.items("tank", "show", "de-1");
      assert.partialDeepStrictEqual(tank, { capacity: value, location: { latitude: 47.993 } });
    }
    const tabs = await provision("id\tcapacity\nde-1\t1.200\n", "--decimal-point");
    assert.match(tabs.stdout, /capacity 1200\.5 → 1\.2\n/);
    const both = await provision(sheet("1"), "--decimal-point", "--decimal-comma");
    assert.deepEqual(
      [both.code, both.stderr],
      [2, "tank-monitor: provision: --decimal-comma and --decimal-point contradict each other\n"],
    );
  });

  test("shape and profile take the same text as the flags: JSON, @FILE, or the name of a profile", async () => {
    writeFileSync(cli.workspace.path("round.json"), '{"kind":"horizontal_cylinder","diameter":1.25,"heads":"flat","unit":"m"}');
    const own = '"{""value"":""level"",""measures"":""level"",""unit"":""cm""}"';
    const rows = ["id,profile,shape", "a1,milesight-em500-udl,@round.json", `b1,${own},`];
    const dry = await provision(rows.join("\n"), "--dry-run");
    assert.match(dry.stdout, /x\.csv:2: a1: profile null → "milesight-em500-udl"\n/);
    assert.match(dry.stdout, /tanks: 0 new, 2 changed, 0 unchanged \(dry run/);
    const [before] = await cli.items("device", "show", "device-a1");
    assert.equal(before?.["profile"], null, "a dry run changes nothing");
    assert.equal((await provision(rows.join("\n"))).code, 0);
    const [tank] = await cli.items("tank", "show", "a1");
    assert.partialDeepStrictEqual(tank, { shape: { diameter: 1.25 } });
    const profileOf = async (device: string) => (await cli.items("device", "show", device))[0]?.["profile"];
    assert.equal(await profileOf("device-a1"), "milesight-em500-udl");
    assert.partialDeepStrictEqual(await profileOf("device-b1"), { value: "level", unit: "cm" });
    assert.match((await provision(rows.join("\n"))).stdout, /tanks: 0 new, 0 changed, 2 unchanged\n$/);
    assert.match(await cli.output("audit", "--type", "device", "--limit", "2"), /device-a1 +profile "milesight-em500-udl"/);

    const created = "id,owner_id,assigned_device_id,name,capacity,capacity_unit,min_fill_alert_percentage,profile";
    assert.equal((await provision(`${created}\np1,ada,new-device,P,1,liters,20,elsys\n`)).code, 0);
    const [device] = await cli.items("device", "show", "new-device");
    assert.deepEqual([device?.["profile"], device?.["tank_id"]], ["elsys", "p1"]);

    for (const [cell, message] of [
      ["dragno", /x\.csv:2: profile: .*"dragno"/],
      ["{value}", /x\.csv:2: profile: not valid JSON/],
      ["@nothing.json", /x\.csv:2: profile: .*nothing\.json/],
    ] as const) {
      const { code, stderr } = await provision(`id,profile\na1,${cell}\n`);
      assert.equal(code, 1);
      assert.match(stderr, message);
    }
  });

  test("one error and nothing is written; each error has its file, line and column", async () => {
    const lines = [
      "id,owner_id,assigned_device_id,name,capacity,capacity_unit,min_fill_alert_percentage,latitude,shape",
      "n1,ada,dn1,Fine,100,liters,20,,",
      '"n2",nobody,dn2,"Of ""nobody""",100,liters,20,,',
      'n3,ada,dn3,Odd,2.700,litres,20,"47,99",',
      'n4,ada,dn1,Taken,100,liters,20,,"{""kind"":""upright"",""height"":2}"',
    ];
    const { code, stdout, stderr } = await provision(lines.join("\r\n"));
    assert.deepEqual([code, stdout], [1, ""]);
    for (const line of [
      /^ {2}x\.csv:3: owner_id: .*"nobody"/m,
      /^ {2}x\.csv:4: capacity_unit: .*"litres"/m,
      /^ {2}x\.csv:4: latitude: "47,99" is not a number with a decimal point; --decimal-comma reads it as 47\.99$/m,
      /^ {2}x\.csv:5: shape\.unit: is missing/m,
    ]) {
      assert.match(stderr, line);
    }
    assert.equal((await cli.run(["tank", "show", "n1"])).code, 1);
  });
});

suite("provisioning, on the database", async () => {
  const cli = await cliOnDatabase({ after }, SMALL_FLEET);

  const INVALID: readonly [name: string, text: string | Buffer, message: RegExp][] = [
    [
      "an unknown column",
      "id,emial,name\nc,c@x,C\n",
      /nothing was written: x\.csv:1: no such column for customers or tanks: "emial"\. Did you mean "email"\? The columns of customers are id, /,
    ],
    [
      "columns by the names of flags",
      "id,name,customer_id,device,threshold,unit,capacity\n",
      /for tanks: "customer_id"\. Did you mean "owner_id"\?\n.*"device".*"assigned_device_id"\?\n.*"min_fill_alert_percentage"\?\n.*"capacity_unit"\? The columns of tanks are id, /,
    ],
    [
      "an id twice",
      "id,name,email\na,A,a@x.example\nb,B,b@x.example\na,C,c@x.example\n",
      /x\.csv:4: id: "a" is already used in x\.csv:2/,
    ],
    [
      "a short row and no JSON beside other errors",
      "id,owner_id,name,capacity,shape\na1,ada\nb1,bob,B1,-5,{round}\na2,ada,,0,\n",
      /4 errors\n {2}x\.csv:2: 2 cells.*\n {2}x\.csv:3: shape: not valid JSON.*\n {2}x\.csv:3: capacity: .*\n {2}x\.csv:4: capacity: .*\n$/,
    ],
    ["columns of both kinds", "id,email,city\nc,c@x,C\n", /x\.csv:1: columns of both customers and tanks/],
    ["columns of either kind", "id,name\nc,C\n", /x\.csv:1: these may be customers or tanks/],
    ["a column twice", "id,owner_id,city,location.city\na,b,c,d\n", /x\.csv:1: duplicate column "location\.city"/],
    ["a quote that is never closed", 'id,email\nc,"c@x\n', /x\.csv:2: a quote is never closed/],
    ["a line break in a name", 'id,email,name\nok,o@x,Ok\nc,c@x,"C\nD"\ne,e,E\n', /x\.csv:3: name: .*\n {2}x\.csv:5: email: /],
    [
      "another encoding",
      Buffer.from("id,email,name\nc,c@x,M\xfcller\n", "latin1"),
      /x\.csv is not valid UTF-8: save the file as UTF-8 \(in Excel: "CSV UTF-8"\)/,
    ],
    ["UTF-16", Buffer.from("\ufeffid\temail\n", "utf16le"), /x\.csv: this is UTF-16 text: save the file as UTF-8/],
    ["a new Excel file", Buffer.from("PK\x03\x04\x14\0"), /x\.csv: this is an Excel file.*: save the sheet as "CSV UTF-8"/],
    ["an old Excel file", Buffer.from("d0cf11e0a1b11ae1", "hex"), /x\.csv: this is an Excel file: save the sheet as "CSV UTF-8"/],
    ["JSON", '[\n  {"object":"customer"}\n]', /x\.csv: this is JSON, not CSV\. "import" reads JSON/],
    ["nothing", "", /x\.csv: is empty/],
    ["too many rows", `id,email,name\n${"c,c@x,C\n".repeat(50_001)}`, /at most 50,000 rows.*50,001/],
  ];
  for (const [name, text, message] of INVALID) {
    test(name, async () => {
      writeFileSync(cli.workspace.path("x.csv"), text);
      const { code, stdout, stderr } = await cli.run(["provision", "x.csv"]);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, message);
    });
  }

  test("reads stdin", async () => {
    const { code, stdout, stderr } = await cli.workspace.spawn(["provision", "-"], {
      input: "id,email,name\nzoe,zoe@x.example,Zoe\n",
    });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /customers: 1 new/);
  });
});
