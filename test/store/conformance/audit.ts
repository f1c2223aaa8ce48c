import assert from "node:assert/strict";
import test from "node:test";
import type { AuditEntry } from "../../../src/domain/audit.ts";
import { formatInstant } from "../../../src/domain/instant.ts";
import type { AuditQuery } from "../../../src/domain/management-reads.ts";
import type { Store } from "../../../src/domain/store.ts";
import { at, command, executed, OPERATOR, tankFields } from "../../support/commands.ts";
import { ingest } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import { checked, customer, DAY, key, NEW_YEAR, putCustomers, putTanks, tank, WHOLE_LOG } from "./objects.ts";

const asked = (question: Partial<AuditQuery> = {}): AuditQuery => ({ ...WHOLE_LOG, ...question });

/** All of it, oldest first. */
async function logOf(store: Store): Promise<AuditEntry[]> {
  const { data, totalItems } = await store.auditPage(asked());
  assert.equal(data.length, totalItems);
  return [...data].reverse();
}

const inShort = ({ number, object, id, action }: AuditEntry): string => `${number} ${object} ${id} ${action}`;

export function auditConformance(engine: Engine): void {
  test("the log says who did what, when, and what changed from what to what", async (t) => {
    const { store } = await engine.open(t);
    await executed(store, command.createCustomer("a", { email: "a@b.example", name: "A" }), at(NEW_YEAR));
    await executed(store, command.changeCustomer("a", { name: "B", phone: "1" }), at(NEW_YEAR + 1, "key_other"));
    await executed(store, command.deleteCustomer("a"), at(NEW_YEAR + 2));
    await executed(store, command.restoreCustomer("a"), at(NEW_YEAR + 3));
    const entry = { object: "customer", id: "a" } as const;
    assert.deepEqual(await logOf(store), [
      {
        ...entry,
        number: 1,
        at: NEW_YEAR,
        by: OPERATOR,
        action: "created",
        changes: {
          created_at: { from: null, to: formatInstant(NEW_YEAR) },
          email: { from: null, to: "a@b.example" },
          name: { from: null, to: "A" },
        },
      },
      {
        ...entry,
        number: 2,
        at: NEW_YEAR + 1,
        by: "key_other",
        action: "changed",
        changes: { name: { from: "A", to: "B" }, phone: { from: null, to: "1" } },
      },
      { ...entry, number: 3, at: NEW_YEAR + 2, by: OPERATOR, action: "deleted", changes: {} },
      { ...entry, number: 4, at: NEW_YEAR + 3, by: OPERATOR, action: "restored", changes: {} },
    ]);
  });

  test("every order that does something is in it, with all the objects it changed; what does nothing is not", async (t) => {
    const { store } = await engine.open(t);
    await store.importCustomers([{ customer: customer("a"), deleted: false }], at(0));
    const before = (await logOf(store)).length;
    const orders = [
      command.createTank("one", tankFields("a", "d1", { shape: { kind: "upright", height: 2, unit: "m" } })),
      command.createTank("two", tankFields("a", "d2")),
      command.changeTank("one", { assigned_device_id: "d2", shape: null }, { swap: true }),
      command.putDevice("d3", { tank_id: "one", profile: "elsys" }),
      command.putDevice("d3", { tank_id: "one", profile: "elsys" }),
      command.deleteTank("two"),
      command.restoreTank("two", { assigned_device_id: "d4" }),
      command.deleteCustomer("a", true),
      command.restoreCustomer("a"),
      command.removeDevice("d1"),
      command.createKey(key("k"), "h"),
      command.changeKey("k", { name: "New" }),
      command.rotateKey("k", 0, "k2", "h2"),
      command.revokeKey("k2"),
      command.revokeKey("k2"),
    ];
    for (const [i, one] of orders.entries()) await executed(store, one, at(NEW_YEAR + i));
    const log = (await logOf(store)).slice(before);
    const words = log.map(({ object, id, action, at: when }) => `${when - NEW_YEAR}: ${object} ${id} ${action}`);
    assert.deepEqual(words.toSorted(), [
      "0: tank one changed",
      "0: tank one created",
      "10: key k created",
      "11: key k changed",
      "12: key k rotated",
      "12: key k2 created",
      "13: key k2 revoked",
      "1: tank two created",
      "2: tank one changed",
      "2: tank one changed",
      "2: tank two changed",
      "3: device d3 changed",
      "3: tank one changed",
      "5: tank two deleted",
      "6: tank two restored",
      "7: customer a deleted",
      "7: tank one deleted",
      "7: tank two deleted",
      "8: customer a restored",
      "8: tank one restored",
      "8: tank two restored",
      "9: device d1 deleted",
    ]);
    const swapped = log.filter(({ at: when, changes }) => when === NEW_YEAR + 2 && "assigned_device_id" in changes);
    assert.deepEqual(
      new Map(swapped.map(({ id, changes }) => [id, changes])),
      new Map([
        ["one", { assigned_device_id: { from: "d1", to: "d2" } }],
        ["two", { assigned_device_id: { from: "d2", to: "d1" } }],
      ]),
    );
    assert.deepEqual(
      log.map(({ number }) => number),
      log.map((_, i) => before + 1 + i),
    );
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("imports are in it, as somebody's or as imports; readings, keys that are used and what did not change are not", async (t) => {
    const { store } = await engine.open(t);
    await store.importCustomers([{ customer: customer("a"), deleted: false }], at(5, "key_importer"));
    await putCustomers(store, customer("a"), customer("b", { phone: "1" }));
    await store.importTanks(
      [
        { tank: tank("one", "a"), deleted: false },
        { tank: tank("lost", "nobody"), deleted: false },
      ],
      at(6),
    );
    await store.importTanks([{ remove: "one" }], at(7));
    await putTanks(store, tank("one", "a", { name: "Back" }));
    await store.updateLastSeen(new Map([["a", 5]]));
    await putReadings(store, "one", [[1, 50]]);
    await ingest(store, { device: "d", at: 1, fill: 5 });
    const log = await logOf(store);
    assert.deepEqual(log.map(inShort), [
      "1 customer a created",
      "2 customer b created",
      "3 tank one created",
      "4 tank one deleted",
      "5 tank one restored",
    ]);
    assert.deepEqual(
      log.map(({ by }) => by),
      ["key_importer", "import", OPERATOR, OPERATOR, "import"],
    );
    assert.deepEqual(log.at(-1)?.changes, { name: { from: "Tank one", to: "Back" } });
  });

  test("the log never goes back in time, whatever the clock does", async (t) => {
    const { store } = await engine.open(t);
    for (const [i, now] of [NEW_YEAR, NEW_YEAR - DAY, NEW_YEAR, NEW_YEAR + 5, 0].entries()) {
      await executed(store, command.createCustomer(`c${i}`, { email: "a@b.example", name: "A" }), at(now));
    }
    assert.deepEqual(
      (await logOf(store)).map((entry) => entry.at),
      [NEW_YEAR, NEW_YEAR, NEW_YEAR, NEW_YEAR + 5, NEW_YEAR + 5],
    );
  });

  test("it is numbered without a gap, though several write at once and some are refused", async (t) => {
    const { store, reopen } = await engine.open(t);
    const stores = [store, await reopen(), await reopen()];
    await putCustomers(store, customer("owner"));
    const rounds = 20;
    await Promise.all(
      stores.map(async (mine, side) => {
        for (let i = 0; i < rounds; i++) {
          await Promise.all([
            executed(mine, command.createTank(`${side} ${i}`, tankFields("owner", `d ${side} ${i}`)), at(NEW_YEAR + i)),
            mine.execute(command.createCustomer("c", { name: "no e-mail" }), at(NEW_YEAR + i)),
            mine.importCustomers([{ customer: customer(`c ${side} ${i}`), deleted: false }], at(NEW_YEAR + i, `side ${side}`)),
            executed(mine, command.changeCustomer("owner", { name: `${side} ${i}` }), at(NEW_YEAR + i)),
          ]);
        }
      }),
    );
    const total = 1 + stores.length * rounds * 3;
    const numbers: number[] = [];
    for (let page = 1; page <= Math.ceil(total / 100); page++) {
      const { data, totalItems } = await store.auditPage(asked({ page }));
      assert.equal(totalItems, total);
      numbers.push(...data.map(({ number }) => number));
    }
    assert.deepEqual(
      numbers,
      Array.from({ length: total }, (_, i) => total - i),
    );
    for (const side of [0, 1, 2]) assert.equal((await store.auditPage(asked({ by: `side ${side}` }))).totalItems, rounds);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("what changes one after the other is told one after the other: each begins where the one before ended", async (t) => {
    const { store, reopen } = await engine.open(t);
    const stores = [store, await reopen()];
    await putCustomers(store, customer("a"));
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        executed(stores[i % 2] as Store, command.changeCustomer("a", { phone: String(i) }), at(NEW_YEAR + i)),
      ),
    );
    const phones = (await logOf(store)).flatMap(({ changes }) => (changes["phone"] === undefined ? [] : [changes["phone"]]));
    assert.equal(phones.length, 40);
    for (const [i, { from }] of phones.entries()) assert.equal(from, i === 0 ? null : phones[i - 1]?.to);
  });

  test("no secret, and nothing that a secret leaves, is in it", async (t) => {
    const { store } = await engine.open(t);
    const hash = "5e884898da28047151d0e56f8dc6292773603d0d6aabbd62a11ef721d1542d8";
    await executed(store, command.createKey(key("k"), `${hash}1`), at(NEW_YEAR));
    await executed(store, command.rotateKey("k", 0, "k2", `${hash}2`), at(NEW_YEAR));
    await executed(store, command.changeKey("k2", { name: "New" }), at(NEW_YEAR));
    await executed(store, command.revokeKey("k2"), at(NEW_YEAR));
    const all = JSON.stringify(await logOf(store));
    assert.ok(all.includes("rotated") && all.includes("revoked"));
    assert.doesNotMatch(all, /hash|secret|5e884898/);
  });

  test("pages and filters are exact, newest first", async (t) => {
    const { store } = await engine.open(t);
    const count = 57;
    for (let i = 0; i < count; i++) {
      const given =
        i % 3 === 0
          ? command.createCustomer(`c${i}`, { email: "a@b.example", name: "A" })
          : command.createKey(key(`c${i}`), `h${i}`);
      await executed(store, given, at(NEW_YEAR + Math.floor(i / 2), `by ${i % 5}`));
    }
    const log = await logOf(store);
    const questions: Partial<AuditQuery>[] = [
      {},
      { from: NEW_YEAR + 3 },
      { to: NEW_YEAR + 3 },
      { from: NEW_YEAR + 3, to: NEW_YEAR + 9 },
      { from: NEW_YEAR + 9, to: NEW_YEAR + 3 },
      { from: NEW_YEAR + 999 },
      { to: NEW_YEAR - 1 },
      { by: "by 1" },
      { by: "BY 1" },
      { object: "customer" },
      { object: "device" },
      { id: "c3" },
      { object: "key", id: "c3" },
      { object: "key", by: "by 2", from: NEW_YEAR + 2, to: NEW_YEAR + 20 },
      { object: "customer", id: "c6", by: "by 1" },
    ];
    for (const question of questions) {
      const { by, object, id, from = 0, to = Number.MAX_SAFE_INTEGER } = question;
      const expected = log
        .filter((entry) => (by === undefined || entry.by === by) && (object === undefined || entry.object === object))
        .filter((entry) => (id === undefined || entry.id === id) && entry.at >= from && entry.at <= to)
        .reverse();
      for (const size of [1, 10, 100]) {
        for (const page of [1, 2, Math.ceil(expected.length / size), Math.ceil(expected.length / size) + 1, 1_000_000]) {
          if (page === 0) continue;
          const found = await store.auditPage(asked({ ...question, page, size }));
          const data = expected.slice((page - 1) * size, page * size);
          assert.deepEqual(found, { data, totalItems: expected.length }, JSON.stringify({ ...question, page, size }));
        }
      }
    }
  });

  test("what it tells of, it tells as it is, in whatever letters", async (t) => {
    const { store } = await engine.open(t);
    const name = 'quotes " \' and \\ and 😀 and \u2028 and {"json": null}';
    await executed(store, command.createCustomer("é 😀", { email: "é@b.example", name }), at(NEW_YEAR, "key é"));
    const [entry] = (await store.auditPage(asked({ by: "key é", object: "customer", id: "é 😀" }))).data;
    assert.deepEqual(entry?.changes["name"], { from: null, to: name });
  });
}
