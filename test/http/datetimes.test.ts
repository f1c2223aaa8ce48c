// The forms of datetimes that bounds may have, and that inclusion stays exact below the millisecond.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { get, listOf, refused } from "./answers.ts";

const AT = Date.parse("2026-11-14T09:30:00.000Z");
const MINUS_1 = "2026-11-14T09:29:59.999Z";
const EXACT = "2026-11-14T09:30:00.000Z";
const PLUS_1 = "2026-11-14T09:30:00.001Z";

const service = await startService({ after });
const key = await service.key();
await service.store.importCustomers([customerRecord("c")]);
await service.store.importTanks([tankRecord("t", "c")]);
await putReadings(service.store, "t", [
  [AT - 1, 1],
  [AT, 2],
  [AT + 1, 3],
]);

const ask = (query: string) => get(service, `/v1/tanks/t/telemetry?${query}`, { key });

/** The instants that a bound lets in, oldest first. */
async function taken(bound: "gte" | "lte", text: string): Promise<unknown[]> {
  const { data, total_items } = listOf(await ask(`created_at_${bound}=${text}`));
  assert.equal(data.length, total_items);
  return data.map((reading) => reading["created_at"]).toReversed();
}

describe("a bound at 2026-11-14T09:30Z", () => {
  for (const text of [
    "2026-11-14T09:30:00Z",
    "2026-11-14T09:30:00z",
    "2026-11-14t09:30:00Z",
    "2026-11-14t09:30:00z",
    "2026-11-14T09:30:00",
    "2026-11-14T09:30:00.0Z",
    "2026-11-14T09:30:00.00Z",
    "2026-11-14T09:30:00.000Z",
    "2026-11-14T09:30:00.000000000Z",
    "2026-11-14T09:30:00.000000000000000000000000",
    `2026-11-14T09:30:00.${"0".repeat(3000)}Z`,
    "2026-11-14T09:30:00%2B00:00",
    "2026-11-14T09:30:00-00:00",
    "2026-11-14T11:30:00%2B02:00",
    "2026-11-14T11:30:00+02:00",
    "2026-11-14T11:30:00%2002:00",
    "2026-11-14T04:00:00-05:30",
    "2026-11-15T09:29:00%2B23:59",
    "2026-11-13T09:31:00-23:59",
    "2026%2D11%2D14T09%3A30%3A00Z",
  ]) {
    it(`may be written ${text.slice(0, 60)}`, async () => {
      assert.deepEqual(await taken("gte", text), [EXACT, PLUS_1]);
      assert.deepEqual(await taken("lte", text), [MINUS_1, EXACT]);
    });
  }
});

describe("a bound between two milliseconds", () => {
  for (const fraction of ["0001", "00001", "000000001", "0005", "0009", "000999999999", `000${"0".repeat(500)}1`]) {
    it(`keeps inclusion exact at .${fraction.slice(0, 20)}`, async () => {
      assert.deepEqual(await taken("gte", `2026-11-14T09:30:00.${fraction}Z`), [PLUS_1]);
      assert.deepEqual(await taken("lte", `2026-11-14T09:30:00.${fraction}Z`), [MINUS_1, EXACT]);
    });
  }

  it("is never carried into the next millisecond, nor into the one before", async () => {
    assert.deepEqual(await taken("lte", "2026-11-14T09:30:00.0009999999999999999999Z"), [MINUS_1, EXACT]);
    assert.deepEqual(await taken("gte", "2026-11-14T09:29:59.9989999999999999999999Z"), [MINUS_1, EXACT, PLUS_1]);
    assert.deepEqual(await taken("lte", "2026-11-14T09:29:59.9989999999999999999999Z"), []);
    assert.deepEqual(await taken("gte", "2026-11-14T09:30:00.0010000000000000000001Z"), []);
  });

  it("reads one, two and three digits as tenths, hundredths and thousandths", async () => {
    assert.deepEqual(await taken("gte", "2026-11-14T09:30:00.001Z"), [PLUS_1]);
    assert.deepEqual(await taken("gte", "2026-11-14T09:30:00.01Z"), []);
    assert.deepEqual(await taken("gte", "2026-11-14T09:29:59.9Z"), [MINUS_1, EXACT, PLUS_1]);
    assert.deepEqual(await taken("gte", "2026-11-14T09:29:59.99Z"), [MINUS_1, EXACT, PLUS_1]);
  });
});

describe("a bare date", () => {
  it("is its midnight in UTC", async () => {
    await putReadings(service.store, "t", [[Date.parse("2020-02-29T00:00:00Z"), 4]]);
    assert.deepEqual(await taken("lte", "2020-02-29"), ["2020-02-29T00:00:00.000Z"]);
    assert.deepEqual(await taken("lte", "2020-02-28"), []);
    assert.equal((await taken("gte", "2020-02-29")).length, 4);
    assert.equal((await taken("gte", "2020-03-01")).length, 3);
  });
});

describe("the ends of the calendar", () => {
  it("take in everything, or nothing", async () => {
    assert.equal((await taken("gte", "0000-01-01T00:00:00Z")).length, 4);
    assert.equal((await taken("lte", "9999-12-31T23:59:59.999999Z")).length, 4);
    assert.equal((await taken("gte", "9999-12-31T23:59:59.9999Z")).length, 0);
    assert.equal((await taken("lte", "0000-01-01T00:00:00.0001Z")).length, 0);
  });
});

describe("anything else is refused:", () => {
  for (const text of [
    "",
    "2026-11-14T09:30:60Z",
    "2016-12-31T23:59:60Z",
    "2026-11-14T24:00:00Z",
    "2026-11-14T09:60:00Z",
    "2026-02-30",
    "2026-02-30T00:00:00Z",
    "2026-02-29",
    "1900-02-29",
    "2026-04-31",
    "2026-13-01",
    "2026-00-01",
    "2026-01-00",
    "2026-1-1",
    "26-11-14",
    "12026-11-14",
    "-2026-11-14",
    "%2B2026-11-14",
    "2026-11",
    "2026",
    "20261114",
    "20261114T093000Z",
    "2026-318",
    "2026-W46-6",
    "2026/11/14",
    "14.11.2026",
    "2026-11-14T",
    "2026-11-14Z",
    "2026-11-14%2B02:00",
    "2026-11-14T09Z",
    "2026-11-14T09:30Z",
    "2026-11-14T09:30",
    "2026-11-14T9:30:00Z",
    "2026-11-14%2009:30:00Z",
    "2026-11-14_09:30:00Z",
    "2026-11-14T09:30:00.Z",
    "2026-11-14T09:30:00,5Z",
    "2026-11-14T09:30:00.5.5Z",
    "2026-11-14T09:30:00ZZ",
    "2026-11-14T09:30:00%2B02",
    "2026-11-14T09:30:00%2B0200",
    "2026-11-14T09:30:00%2B2:00",
    "2026-11-14T09:30:00%2B24:00",
    "2026-11-14T09:30:00%2B02:60",
    "2026-11-14T09:30:00%2B02:00:00",
    "2026-11-14T09:30:00%E2%88%9202:00",
    "2026-11-14T09:30:00%20%2002:00",
    "2026-11-14T09:30:00[UTC]",
    "%202026-11-14",
    "2026-11-14%20",
    "2026-11-14T09:30:00Z%0A",
    "2026-11-14T09:30:00Z%00",
    "%D9%A2%D9%A0%D9%A2%D9%A6-11-14",
    "now",
    "yesterday",
    "0",
    "1794648600",
    "1794648600000",
    "NaN",
    "Sat,%2014%20Nov%202026%2009:30:00%20GMT",
  ]) {
    it(JSON.stringify(text), async () => {
      for (const name of ["created_at_gte", "created_at_lte"]) {
        const { detail } = refused(await ask(`${name}=${text}`), 400, "parameter_invalid", name);
        assert.match(detail, /must be an ISO datetime such as/);
      }
    });
  }
});
