import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import fc from "fast-check";
import type { DecodedRecord } from "../../src/domain/record.ts";
import { csvRowDecoder, type RowDecoder } from "../../src/ingest/csv.ts";

const HEADER = "tank_id,created_at,fill_percentage";
const AT = Date.parse("2026-01-01T00:00:00Z");

function decoder(header = HEADER): RowDecoder {
  const made = csvRowDecoder(header);
  assert.ok(typeof made === "function", JSON.stringify(made));
  return made;
}

const reading = (tankId: string, fill_percentage = 50, created_at = AT): DecodedRecord => ({
  kind: "telemetry",
  record: { tankId, reading: { created_at, fill_percentage } },
});
const reasonOf = (decoded: DecodedRecord) => (decoded.kind === "rejected" ? decoded.reason : undefined);

test("the header may have its columns in any order, case, and quotes", () => {
  assert.deepEqual(decoder()("t,2026-01-01,50"), reading("t"));
  assert.deepEqual(decoder("fill_percentage,tank_id,created_at")("50,t,2026-01-01"), reading("t"));
  assert.deepEqual(decoder(" Tank_ID , CREATED_AT,fill_percentage ")("t,2026-01-01,50"), reading("t"));
  assert.deepEqual(decoder('"tank_id","created_at","fill_percentage"')("t,2026-01-01,50"), reading("t"));
});

test("the header of customers or tanks is sent to the right door", () => {
  for (const header of ["id,name,email", "id,owner_id,name"]) {
    const made = csvRowDecoder(header);
    assert.match(typeof made === "object" ? made.fault : "", /"npx tank-monitor provision"$/);
  }
});

test("any other header is refused with the one that is needed", () => {
  for (const header of [
    "",
    "t,2026-01-01,50",
    "tank_id,created_at",
    `${HEADER},unit`,
    "tank_id,tank_id,created_at",
    HEADER.replaceAll(",", ";"),
  ]) {
    const made = csvRowDecoder(header);
    assert.ok(typeof made === "object", header);
    assert.equal(made.fault, `the first line of a CSV file must be the header ${HEADER}, not ${JSON.stringify(header)}`);
  }
});

test("numbers in every plain decimal form are taken", () => {
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

test("everything else is rejected as no number, or as one out of range", () => {
  for (const text of ["", "full", "0x10", "1_000", "NaN", "Infinity", "5 0", "1e", "50%", "١"]) {
    assert.equal(reasonOf(decoder()(`t,2026-01-01,${text}`)), "fill_percentage: must be a number", text);
  }
  assert.equal(reasonOf(decoder()("t,2026-01-01,1e400")), "fill_percentage: must be a number");
  for (const text of ["100.1", "-1", "1e3"]) {
    assert.equal(reasonOf(decoder()(`t,2026-01-01,${text}`)), "fill_percentage: must be from 0 to 100", text);
  }
});

test("a row that is not three columns, or names no tank or no instant, says so", () => {
  assert.equal(reasonOf(decoder()("t,2026-01-01")), "a row must have 3 columns, this one has 2");
  assert.equal(reasonOf(decoder()("t,2026-01-01,50,")), "a row must have 3 columns, this one has 4");
  assert.equal(reasonOf(decoder()('"t","2026-01-01","50",')), "a row must have 3 columns, this one has 4");
  assert.equal(reasonOf(decoder()("")), "a row must have 3 columns, this one has 1");
  assert.equal(reasonOf(decoder()(",2026-01-01,50")), "tank_id: must not be empty");
  assert.equal(reasonOf(decoder()("t,,50")), 'created_at: must be a datetime such as "2026-11-14T09:30:00Z"');
  assert.equal(reasonOf(decoder()('t,"2026-01-01" ,50')), "the quotes of this row do not match");
  assert.equal(reasonOf(decoder()('t,"2026-01-01,50')), "the quotes of this row do not match");
  assert.equal(reasonOf(decoder()('t,2026"-01-01,50')), "the quotes of this row do not match");
});

test("a quoted cell may hold commas and quotes, and an id is kept as it is", () => {
  assert.deepEqual(decoder()('"t,1",2026-01-01,50'), reading("t,1"));
  assert.deepEqual(decoder()('"say ""hi""",2026-01-01,50'), reading('say "hi"'));
  assert.deepEqual(decoder()(" t ,2026-01-01,50"), reading(" t "));
});

test("any id and any instant, quoted where they must be or everywhere, come back", () => {
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

/** In a process of its own, since a decoder that never ends would stop every test after it. */
function decodedInTime(row: string): string {
  const module = new URL("../../src/ingest/csv.ts", import.meta.url).href;
  const script = `
    const { csvRowDecoder } = await import(${JSON.stringify(module)});
    const decoded = csvRowDecoder(${JSON.stringify(HEADER)})(${JSON.stringify(row)});
    process.stdout.write(decoded.kind === "rejected" ? decoded.reason : decoded.kind);`;
  const { stdout } = spawnSync(process.execPath, ["--max-old-space-size=200", "--input-type=module", "-e", script], {
    timeout: 3000,
    encoding: "utf8",
  });
  return stdout === "" ? "no answer in three seconds" : stdout;
}

test("a row whose first quote is never closed is rejected", () => {
  assert.equal(decodedInTime('"t,2026-01-01,50'), "the quotes of this row do not match");
});

test("a row with text after the first quoted cell is rejected", () => {
  assert.equal(decodedInTime('t"1",2026-01-01,50'), "the quotes of this row do not match");
});

test("a row that starts with an empty cell and has quotes is rejected for its empty id", () => {
  assert.equal(decodedInTime(',"2026-01-01",50'), "tank_id: must not be empty");
});
