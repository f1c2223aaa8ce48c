// `for await` over lists of a real service, on both engines, while objects are inserted, late ones included, and removed.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type Client, createClient } from "../../client/src/index.ts";
import { formatInstant } from "../../src/domain/instant.ts";
import { seeded } from "../../src/simulate/random.ts";
import { databaseSetting } from "../support/postgres/database.ts";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { type Service, startService } from "../support/service.ts";

const MINUTE = 60_000;
const START = Date.parse("2026-01-01T00:00:00.000Z");
const SEED = Number(process.env["TEST_SEED"] ?? Date.now() % 1_000_000);

type Fleet = Service & { readonly client: Client; readonly requests: () => number };

async function started(engine: "sqlite" | "postgres"): Promise<Fleet> {
  const service = await startService({ after }, { environment: await databaseSetting({ after }, engine) });
  await service.store.importCustomers([customerRecord("c-1")]);
  const client = createClient({ baseUrl: service.url, key: await service.key({ role: "manage" }) });
  return { ...service, client, requests: () => service.events.filter(({ kind }) => kind === "request_completed").length };
}

const time = (minute: number): string => formatInstant(START + minute * MINUTE);
const putTank = (fleet: Fleet, id: string, minute: number) =>
  fleet.store.importTanks([tankRecord(id, "c-1", { created_at: time(minute) })]);
const putTanks = (fleet: Fleet, prefix: string, count: number, minute: (i: number) => number) =>
  fleet.store.importTanks(
    Array.from({ length: count }, (_, i) => tankRecord(`${prefix}-${i}`, "c-1", { created_at: time(minute(i)) })),
  );
const assertOnce = (ids: readonly unknown[]) => assert.equal(new Set(ids).size, ids.length, "something is there twice");

for (const engine of ["sqlite", "postgres"] as const) {
  describe(`${engine}: for await`, async () => {
    const fleet = await started(engine);
    const { client, store } = fleet;

    it("reads all telemetry while a writer inserts new and late readings", async () => {
      const COUNT = 1200;
      await putTank(fleet, "t-telemetry", 0);
      const at = (i: number) => START + i * MINUTE;
      await putReadings(
        store,
        "t-telemetry",
        Array.from({ length: COUNT }, (_, i) => [at(i), i % 100] as const),
      );
      let isWriting = true;
      const writer = (async () => {
        for (let i = 0; isWriting; i++, await pause(2)) {
          await putReadings(store, "t-telemetry", [
            [at(COUNT + i), 50],
            [at((i * 977) % COUNT) + 1 + i, 50],
          ]);
        }
        return undefined;
      })();
      const before = fleet.requests();
      const times: number[] = [];
      let late: number | undefined;
      for await (const { created_at } of client.tanks.telemetry("t-telemetry")) {
        times.push(Date.parse(created_at));
        if (times.length === 600) {
          // Behind the position, and stored before it gets there.
          late = Date.parse(created_at) - 200 * MINUTE - 30_000;
          await putReadings(store, "t-telemetry", [[late, 12]]);
        }
      }
      isWriting = false;
      await writer;
      assertOnce(times);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => b - a),
      );
      const found = new Set(times);
      assert.deepEqual(
        Array.from({ length: COUNT }, (_, i) => at(i)).filter((time) => !found.has(time)),
        [],
      );
      assert.ok(late !== undefined && found.has(late), "a late reading");
      assert.ok(times.length > COUNT + 1, "readings of the writer");
      const sent = fleet.requests() - before;
      assert.ok(sent <= times.length / 99 + 2, `${sent} requests for ${times.length} readings`);
    });

    it("reads tanks of which more were created at one instant than fit into a page, while some are deleted", async () => {
      await putTanks(fleet, "same", 90, () => 100);
      await putTanks(fleet, "older", 30, (i) => 50 - i / 10);
      const ids: string[] = [];
      const deleted = new Set<string>();
      const remove = async (id: string | undefined) => {
        if (id === undefined || deleted.has(id)) return;
        await client.manage.tanks.delete(id);
        deleted.add(id);
      };
      for await (const { id } of client.tanks.list({ size: 20 })) {
        ids.push(id);
        // Those that were seen already, so that all others move forward, by more than a page in the end.
        if (id.startsWith("same-") && ids.length % 2 === 0)
          await remove(ids.find((one) => !deleted.has(one) && one.startsWith("same-")));
        if (ids.length === 40) await putTank(fleet, "late", 99);
        if (ids.length === 45) await putTank(fleet, "newer", 101);
      }
      assertOnce(ids);
      assert.ok(deleted.size > 40, `${deleted.size} deleted`);
      const expected = [
        ...Array.from({ length: 90 }, (_, i) => `same-${i}`),
        ...Array.from({ length: 30 }, (_, i) => `older-${i}`),
      ];
      assert.deepEqual(
        [...expected, "late"].filter((id) => !ids.includes(id)),
        [],
      );
      assert.ok(!ids.includes("newer"));
    });

    it(`reads what stays, once, in random histories (TEST_SEED=${SEED})`, async () => {
      const random = seeded(`${SEED} ${engine}`);
      /** The last tank of the page that was read last: what is created behind it must be found. */
      let position: string | undefined;
      const watching = createClient({
        baseUrl: fleet.url,
        key: await fleet.key({ role: "manage" }),
        async fetch(...request) {
          const response = await fetch(...request);
          const { data } = (await response.clone().json()) as { readonly data: readonly { readonly created_at: string }[] };
          position = data.at(-1)?.created_at;
          return response;
        },
      });
      for (let round = 1; round <= 2; round++) {
        const first = 1000 * round;
        const live = Array.from({ length: 90 }, (_, i) => `r${round}-${i}`);
        await putTanks(fleet, `r${round}`, live.length, () => first + random.whole(0, 3));
        const expected = new Set(live);
        const seen: string[] = [];
        const [created_at_gte, created_at_lte] = [time(first), time(first + 3)];
        const size = random.whole(20, 30);
        for await (const { id } of watching.manage.tanks.list({ created_at_gte, created_at_lte, size })) {
          seen.push(id);
          if (random.chance(0.4)) {
            const [removed = ""] = live.splice(random.whole(0, live.length - 1), 1);
            expected.delete(removed);
            await client.manage.tanks.delete(removed);
          }
          if (random.chance(0.4)) {
            const added = `r${round}-${random.whole(100, 1_000_000)}`;
            const minute = first + random.whole(0, 3);
            await putTank(fleet, added, minute);
            live.push(added);
            if (position !== undefined && time(minute) < position) expected.add(added);
          }
        }
        assertOnce(seen);
        assert.deepEqual(
          [...expected].filter((id) => !seen.includes(id)),
          [],
        );
      }
    });

    it("reads lists without times, while entries are removed", async () => {
      const channel = (i: number) =>
        // For what does not happen here, so that nothing is sent.
        client.manage.channels.create({ type: "webhook", url: `https://example.com/${i}`, description: `${i}`, kinds: ["leak"] });
      const created: string[] = [];
      for (let i = 0; i < 50; i++) created.push((await channel(i)).id);
      const ids: string[] = [];
      for await (const { id } of client.manage.channels.list({ size: 20 })) {
        ids.push(id);
        if (ids.length === 38) for (const gone of ids.slice(0, 25)) await client.manage.channels.delete(gone);
        if (ids.length === 39) await channel(50);
      }
      assert.deepEqual(ids, created.toReversed());
    });

    it("reads the audit log, in which an object has many entries", async () => {
      for (let i = 0; i < 45; i++) await client.manage.customers.update("c-1", { name: `Name ${i}` });
      const { total_items } = await client.manage.audit.list({ id: "c-1", size: 1 });
      const numbers: number[] = [];
      for await (const entry of client.manage.audit.list({ id: "c-1", size: 20 })) numbers.push(entry.number);
      assertOnce(numbers);
      assert.equal(numbers.length, total_items);
      assert.ok(total_items >= 45);
    });

    it("reads the fleet, alerts that opened together, and the events up to now", async () => {
      const { total_items } = await client.insight.fleet.list({ size: 1 });
      const tanks: string[] = [];
      for await (const { tank } of client.insight.fleet.list()) tanks.push(tank.id);
      assertOnce(tanks);
      assert.equal(tanks.length, total_items);
      const COUNT = 45;
      await putTanks(fleet, "low", COUNT, () => 5000);
      const created_at = formatInstant(Date.now());
      await client.ingest.readings(
        Array.from({ length: COUNT }, (_, i) => ({ tank_id: `low-${i}`, created_at, fill_percentage: 5 })),
      );
      const alerts: string[] = [];
      for await (const { tank_id } of client.insight.alerts.list({ kind: "low", size: 20 })) alerts.push(tank_id);
      assert.deepEqual(alerts.toSorted(), Array.from({ length: COUNT }, (_, i) => `low-${i}`).sort());
      const events: number[] = [];
      for await (const { sequence } of client.insight.events.list({ size: 7 })) events.push(sequence);
      assert.ok(events.length >= COUNT);
      assert.deepEqual(
        events,
        [...new Set(events)].sort((a, b) => a - b),
      );
    });

    it("rejects a page, and ends with a break", async () => {
      await assert.rejects(async () => {
        for await (const _ of client.tanks.list({ page: 2 })) assert.fail();
      }, TypeError);
      const before = fleet.requests();
      for await (const _ of client.tanks.list({ size: 2 })) break;
      assert.equal(fleet.requests() - before, 1);
    });
  });
}
