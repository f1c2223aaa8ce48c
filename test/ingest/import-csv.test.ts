import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type CsvOptions, csvRowDecoder } from "../../src/ingest/csv-readings.ts";
import type { DecodedRecord } from "../../src/ingest/records.ts";

const HEADER = "tank_id,created_at,fill_percentage";
const AT = Date.parse("2026-01-01T00:00:00Z");

function decoder(header = HEADER, options: CsvOptions = {}): (row: string) => DecodedRecord {
  const result = csvRowDecoder(header, options);
  assert.ok(typeof result === "function", JSON.stringify(result));
  return result;
}

const reading = (tankId: string, fill = 50): DecodedRecord => ({
  kind: "telemetry",
  record: { reading: { source: { tankId }, createdAt: AT, measurement: { fill } }, customerId: null },
  isAssumedUtc: true,
});
const reasonOf = (decoded: DecodedRecord) => (decoded.kind === "rejected" ? decoded.reason : undefined);

test("the header may have its columns in any order, case, and quotes", () => {
  assert.deepEqual(decoder()("t,2026-01-01,50"), reading("t"));
  assert.deepEqual(decoder("fill_percentage,tank_id,created_at")("50,t,2026-01-01"), reading("t"));
  assert.deepEqual(decoder(" Tank_ID , CREATED_AT,fill_percentage ")("t,2026-01-01,50"), reading("t"));
  assert.deepEqual(decoder('"tank_id","created_at","fill_percentage"')("t,2026-01-01,50"), reading("t"));
});

test("the header of a customer or tank file is rejected with a pointer to provision", () => {
  for (const header of ["id,name,email", "id,owner_id,name"]) {
    const result = csvRowDecoder(header);
    assert.match(typeof result === "object" ? result.error : "", /"npx tank-monitor provision"$/);
  }
});

test("any other header is rejected with the one that is required", () => {
  for (const header of ["", "t,2026-01-01,50", "tank_id,created_at", `${HEADER},unit`, "tank_id,tank_id,created_at"]) {
    const result = csvRowDecoder(header);
    assert.ok(typeof result === "object", header);
    assert.equal(result.error, `the first line of a CSV file must be the header ${HEADER}, not ${JSON.stringify(header)}`);
  }
});

test("a long row takes time in proportion to its length", () => {
  for (const cell of ["1", "0.", " ", '"', '""', "e", "."]) {
    const started = process.cpuUsage();
    assert.notEqual(reasonOf(decoder()(`t,2026-01-01,${cell.repeat(200_000)}x`)), undefined);
    const { user, system } = process.cpuUsage(started);
    assert.ok(user + system < 1_000_000, `${cell} took ${user + system} µs`);
  }
});

test("numbers in any plain decimal form are accepted", () => {
  const forms: [string, number][] = [
    ["50", 50],
    ["50.0", 50],
    ["+5e1", 50],
    ["0", 0],
    ["-0", 0],
    [".5", 0.5],
    ["5.", 5],
    [" 50 ", 50],
    ["5E-1", 0.5],
    ["63.400000000000006", 63.400000000000006],
  ];
  for (const [text, fill] of forms) assert.deepEqual(decoder()(`t,2026-01-01,${text}`), reading("t", fill), text);
});

test("anything else is rejected as not a number, or as out of range", () => {
  for (const text of ["", "full", "0x10", "1_000", "NaN", "Infinity", "5 0", "1e", "50%", "١"]) {
    assert.equal(reasonOf(decoder()(`t,2026-01-01,${text}`)), "fill_percentage: must be a number", text);
  }
  assert.equal(reasonOf(decoder()("t,2026-01-01,1e400")), "fill_percentage: must be a number");
  for (const text of ["100.1", "-1", "1e3"]) {
    assert.equal(reasonOf(decoder()(`t,2026-01-01,${text}`)), "fill_percentage: must be from 0 to 100", text);
  }
});

test("a row without three columns, a tank or a time is rejected", () => {
  assert.equal(reasonOf(decoder()("t,2026-01-01")), "a row must have 3 columns, this one has 2");
  assert.equal(reasonOf(decoder()("t,2026-01-01,50,")), "a row must have 3 columns, this one has 4");
  assert.equal(reasonOf(decoder()('"t","2026-01-01","50",')), "a row must have 3 columns, this one has 4");
  assert.equal(reasonOf(decoder()("")), "a row must have 3 columns, this one has 1");
  assert.equal(reasonOf(decoder()(",2026-01-01,50")), "tank_id: must not be empty");
  const forms =
    "created_at: must be a datetime such as 2026-11-14T09:30:00Z, 2026-11-14 09:30 or 14.11.2026 09:30, or a date (midnight)";
  for (const time of ["", "11/14/2026 09:30", "14.11.26 09:30", "46340.4"])
    assert.equal(reasonOf(decoder()(`t,${time},50`)), forms);
  assert.equal(reasonOf(decoder()(',"2026-01-01",50')), "tank_id: must not be empty");
});

test("a row with an unclosed or misplaced quote is rejected, however long it is", () => {
  const long = '""'.repeat(500_000);
  for (const row of [
    't,"2026-01-01" ,50',
    't,"2026-01-01,50',
    't,2026"-01-01,50',
    '"t,2026-01-01,50',
    't"1",2026-01-01,50',
    `"${long},1,50`,
  ]) {
    assert.equal(reasonOf(decoder()(row)), "the row has an unclosed or misplaced quote", row.slice(0, 40));
  }
});

test("any id and fill survive quoting, where required or everywhere, and ids keep their spaces", () => {
  const id = fc.string({ unit: fc.constantFrom("a", ",", '"', " ", "é", "😀", "'"), minLength: 1, maxLength: 20 });
  const fill = fc.double({ min: 0, max: 100, noNaN: true }).map((value) => value + 0);
  fc.assert(
    fc.property(id, fill, fc.boolean(), (tankId, percentage, isAlways) => {
      const quote = (text: string) => (isAlways || /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
      const row = [tankId, "2026-01-01T00:00:00.000Z", String(percentage)].map(quote).join(",");
      assert.deepEqual(decoder()(row), { ...reading(tankId, percentage), isAssumedUtc: false });
    }),
    { numRuns: 1000 },
  );
});

test("columns may be separated by semicolons or tabs, with decimal commas", () => {
  const rows = { ";": ["t;2026-01-01;50,5", '"t";"2026-01-01";"50,5"'], "\t": ["t\t2026-01-01\t50,5", '"t"\t2026-01-01\t50.5'] };
  for (const [separator, texts] of Object.entries(rows)) {
    const decode = decoder(HEADER.replaceAll(",", separator));
    for (const row of texts) assert.deepEqual(decode(row), reading("t", 50.5), row);
    assert.deepEqual(decode(['"a,;""b"', "2026-01-01", "50"].join(separator)), reading('a,;"b'));
    assert.equal(
      reasonOf(decode(["t", "2026-01-01", "1.200"].join(separator))),
      "fill_percentage: 1.200 may be 1200 or 1.2; give --decimal-comma or --decimal-point",
    );
  }
  const semicolons = HEADER.replaceAll(",", ";");
  assert.deepEqual(decoder(semicolons, { decimal: "point" })("t;2026-01-01;1.200"), reading("t", 1.2));
  assert.equal(
    reasonOf(decoder(semicolons, { decimal: "comma" })("t;2026-01-01;1.200")),
    "fill_percentage: must be from 0 to 100",
  );
});

const isAssumedUtc = (decoded: DecodedRecord): boolean => decoded.kind === "telemetry" && decoded.isAssumedUtc;

function instantOf(decoded: DecodedRecord): string {
  if (decoded.kind === "rejected") return decoded.reason;
  assert.ok(decoded.kind === "telemetry");
  return new Date(decoded.record.reading.createdAt).toISOString();
}

test("times are read as spreadsheets and loggers write them; those without an offset are UTC", () => {
  const decode = decoder(HEADER);
  const local = {
    "2026-11-01 08:00": "2026-11-01T08:00:00.000Z",
    "2026-11-01 08:00:30": "2026-11-01T08:00:30.000Z",
    "2026-11-01 08:00:30.25": "2026-11-01T08:00:30.250Z",
    "2026-11-01T08:00": "2026-11-01T08:00:00.000Z",
    "2026-11-01T08:00:30": "2026-11-01T08:00:30.000Z",
    " 2026-11-01 8:05 ": "2026-11-01T08:05:00.000Z",
    "2026-11-01": "2026-11-01T00:00:00.000Z",
    "01.11.2026 08:00": "2026-11-01T08:00:00.000Z",
    "1.11.2026 08:00:30": "2026-11-01T08:00:30.000Z",
    "01.11.2026": "2026-11-01T00:00:00.000Z",
  };
  for (const [text, instant] of Object.entries(local)) {
    const decoded = decode(`t,${text},50`);
    assert.deepEqual([instantOf(decoded), isAssumedUtc(decoded)], [instant, true], text);
  }
  const offset = {
    "2026-11-01 08:00Z": "2026-11-01T08:00:00.000Z",
    "2026-11-01 08:00+02:00": "2026-11-01T06:00:00.000Z",
    "2026-11-01 08:00:30 -01:30": "2026-11-01T09:30:30.000Z",
    "01.11.2026 08:00 +01:00": "2026-11-01T07:00:00.000Z",
    "2026-11-01 08:00:30.25+01": "2026-11-01T07:00:30.250Z",
    "2026-11-01T08:00-0330": "2026-11-01T11:30:00.000Z",
    "2026-11-01T08:00:00.000Z": "2026-11-01T08:00:00.000Z",
  };
  for (const [text, instant] of Object.entries(offset)) {
    const decoded = decode(`t,${text},50`);
    assert.deepEqual([instantOf(decoded), isAssumedUtc(decoded)], [instant, false], text);
  }
  for (const text of [
    "11/01/2026 08:00",
    "2026-11-01 24:00",
    "2026-11-01 08",
    "2026-11-01 08:00+1",
    "2026-11-01+01",
    "08:00",
    "01.11.26 08:00",
    "20261101",
  ]) {
    assert.match(instantOf(decode(`t,${text},50`)), /^created_at: must be a datetime such as/, text);
  }
  const impossible = {
    "2026-02-30 08:00": "2026-02-30",
    "31.02.2026": "2026-02-31",
    "2026-13-01": "2026-13-01",
    "2026-02-30T08:00:00.000Z": "2026-02-30",
  };
  for (const [text, date] of Object.entries(impossible)) {
    assert.equal(instantOf(decode(`t,${text},50`)), `created_at: the date ${date} does not exist`);
  }
});

test("a time zone applies to times without an offset; those that clocks skip or repeat are rejected", () => {
  const decode = decoder(HEADER, { timezone: "Europe/Berlin" });
  const times = {
    "2026-11-01 08:00": "2026-11-01T07:00:00.000Z",
    "2026-07-01 08:00": "2026-07-01T06:00:00.000Z",
    "2026-07-01": "2026-06-30T22:00:00.000Z",
    "2026-07-01 08:00Z": "2026-07-01T08:00:00.000Z",
    "2026-07-01T08:00:00.000Z": "2026-07-01T08:00:00.000Z",
    "2026-07-01 08:00+00:00": "2026-07-01T08:00:00.000Z",
    "2026-10-25 01:59:59": "2026-10-24T23:59:59.000Z",
    "2026-10-25 03:00": "2026-10-25T02:00:00.000Z",
    "2026-10-25 02:30:00+02:00": "2026-10-25T00:30:00.000Z",
    "2026-10-25 02:30":
      "created_at: 2026-10-25 02:30 exists twice in Europe/Berlin: add the offset, 2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00",
    "2026-03-29 02:30": "created_at: 2026-03-29 02:30 does not exist in Europe/Berlin: clocks skip it",
    "2026-02-30 08:00": "created_at: the date 2026-02-30 does not exist",
  };
  for (const [text, expected] of Object.entries(times)) {
    const decoded = decode(`t,${text},50`);
    assert.deepEqual([instantOf(decoded), isAssumedUtc(decoded)], [expected, false], text);
  }
});

test("an apostrophe that an export put in front of a formula is removed", () => {
  assert.deepEqual(decoder()("'=1+1,2026-01-01,50"), reading("=1+1"));
  assert.deepEqual(decoder()("'tank,2026-01-01,50"), reading("'tank"));
});
