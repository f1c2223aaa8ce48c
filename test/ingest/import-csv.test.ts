import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { csvRowDecoder, type DecodedRecord } from "../../src/ingest/records.ts";

const HEADER = "tank_id,created_at,fill_percentage";
const AT = Date.parse("2026-01-01T00:00:00Z");

function decoder(header = HEADER): (row: string) => DecodedRecord {
  const result = csvRowDecoder(header);
  assert.ok(typeof result === "function", JSON.stringify(result));
  return result;
}

const reading = (tankId: string, fill = 50): DecodedRecord => ({
  kind: "telemetry",
  record: { reading: { source: { tankId }, createdAt: AT, measurement: { fill } }, customerId: null },
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
  for (const header of [
    "",
    "t,2026-01-01,50",
    "tank_id,created_at",
    `${HEADER},unit`,
    "tank_id,tank_id,created_at",
    HEADER.replaceAll(",", ";"),
  ]) {
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
  assert.equal(reasonOf(decoder()("t,,50")), 'created_at: must be a datetime such as "2026-11-14T09:30:00Z"');
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
      assert.deepEqual(decoder()(row), reading(tankId, percentage));
    }),
    { numRuns: 1000 },
  );
});
