// Order, pages and totals: newest first, ties by id byte by byte, and no page that repeats or skips.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { get, idsOf, listOf } from "./answers.ts";

/** Bytes of UTF-8, not UTF-16 units: an astral character comes after U+FF5E, though its first unit is smaller. */
const TIED_IDS = ["Z", "a", "aa", "ab", "z", "\u00e9", "\uff5e", "\u{1f600}", "1", "10", "9", "_", "-", "a b", "a/b", "~"];
const BY_BYTES_DESCENDING = [...TIED_IDS].sort((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
const INSTANT = "2026-01-01T00:00:00.000Z";

const service = await startService({ after });
const key = await service.key();
const ownKey = await service.key({ role: "manage" });
await service.store.importCustomers([
  ...TIED_IDS.map((id) => customerRecord(id, { created_at: INSTANT, email: "one@tied.example" })),
  customerRecord("older", { created_at: "2025-12-31T23:59:59.999Z" }),
  customerRecord("newer", { created_at: "2026-01-01T00:00:00.001Z" }),
]);
const EXPECTED = ["newer", ...BY_BYTES_DESCENDING, "older"];
await service.store.importTanks([
  ...TIED_IDS.map((id) => tankRecord(id, "a", { created_at: INSTANT })),
  tankRecord("older", "a", { created_at: "2025-12-31T23:59:59.999Z" }),
  tankRecord("newer", "a", { created_at: "2026-01-01T00:00:00.001Z" }),
]);
const customerKey = await service.key({ customerId: "a" });

const ask = (path: string, by = key) => get(service, path, { key: by });

it("the ids of this test tell bytes from code units and from letters", () => {
  assert.notDeepEqual(BY_BYTES_DESCENDING, [...TIED_IDS].sort().reverse());
  assert.notDeepEqual(
    BY_BYTES_DESCENDING,
    [...TIED_IDS].sort((a, b) => b.localeCompare(a)),
  );
});

for (const [list, by] of [
  ["/v1/customers", key],
  ["/v1/customers", ownKey],
  ["/v1/tanks", key],
  ["/v1/tanks", customerKey],
] as const) {
  describe(`${list}, ${by === customerKey ? "a customer's key" : by === ownKey ? "a manage key" : "the operator's key"}`, () => {
    it("is newest first, equal instants by id, descending byte by byte", async () => {
      assert.deepEqual(idsOf(await ask(`${list}?size=100`, by)), EXPECTED);
    });

    for (const size of [1, 3, 7, 18, 100]) {
      it(`shows every object once in pages of ${size}`, async () => {
        const seen: unknown[] = [];
        const pages = Math.ceil(EXPECTED.length / size);
        for (let page = 1; page <= pages; page++) {
          const found = listOf(await ask(`${list}?size=${size}&page=${page}`, by));
          assert.deepEqual([found.page, found.size, found.total_pages, found.total_items], [page, size, pages, EXPECTED.length]);
          seen.push(...found.data.map(({ id }) => id));
        }
        assert.deepEqual(seen, EXPECTED);
      });
    }

    it("is empty past the end, with the true totals", async () => {
      for (const page of [3, 4, 2_147_483_647]) {
        const found = listOf(await ask(`${list}?page=${page}`, by));
        assert.deepEqual(found, { object: "list", data: [], page, size: 10, total_pages: 2, total_items: 18 });
      }
    });

    it("counts what a range leaves", async () => {
      const only = listOf(await ask(`${list}?created_at_gte=${INSTANT}&created_at_lte=${INSTANT}&size=5&page=4`, by));
      assert.deepEqual([only.total_items, only.total_pages], [TIED_IDS.length, 4]);
      assert.deepEqual(
        only.data.map(({ id }) => id),
        BY_BYTES_DESCENDING.slice(15),
      );
    });

    it("takes both ends of a range in", async () => {
      assert.deepEqual(idsOf(await ask(`${list}?created_at_gte=2026-01-01T00:00:00.001Z`, by)), ["newer"]);
      assert.deepEqual(idsOf(await ask(`${list}?created_at_lte=2025-12-31T23:59:59.999Z`, by)), ["older"]);
      assert.deepEqual(idsOf(await ask(`${list}?created_at_gte=2026-01-01T00:00:00.002Z`, by)), []);
    });

    it("is empty, not wrong, where gte is after lte", async () => {
      const found = listOf(await ask(`${list}?created_at_gte=2026-02-01&created_at_lte=2025-01-01`, by));
      assert.deepEqual(found, { object: "list", data: [], page: 1, size: 10, total_pages: 0, total_items: 0 });
    });
  });
}

describe("the e-mail filter", () => {
  it("keeps the order of ties", async () => {
    const page = (n: number) => ask(`/v1/customers?email=one@tied.example&size=10&page=${n}`);
    assert.deepEqual([...idsOf(await page(1)), ...idsOf(await page(2))], BY_BYTES_DESCENDING);
  });
});

describe("/v1/tanks/:id/telemetry", () => {
  it("pages through a long series without a gap, in any range", async () => {
    const start = Date.parse("2026-03-01T00:00:00Z");
    const readings = Array.from({ length: 1234 }, (_, i) => [start + i * 60_000, (i * 7) % 101] as const);
    await putReadings(service.store, "z", readings);
    const newestFirst = readings.toReversed().map(([at]) => new Date(at).toISOString());
    const range = newestFirst.slice(100, 1000);
    const seen: unknown[] = [];
    for (let page = 1; page <= 9; page++) {
      const query = `size=100&page=${page}&created_at_lte=${range[0]}&created_at_gte=${range.at(-1)}`;
      const found = listOf(await ask(`/v1/tanks/z/telemetry?${query}`));
      assert.deepEqual([found.total_items, found.total_pages], [900, 9]);
      seen.push(...found.data.map((reading) => reading["created_at"]));
    }
    assert.deepEqual(seen, range);
    const last = listOf(await ask("/v1/tanks/z/telemetry?size=100&page=13"));
    assert.deepEqual([last.data.length, last.total_items, last.total_pages], [34, 1234, 13]);
    assert.deepEqual(
      last.data.map((reading) => reading["created_at"]),
      newestFirst.slice(1200),
    );
  });
});
