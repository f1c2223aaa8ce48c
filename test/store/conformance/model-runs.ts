import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { READING_OUTCOMES } from "../../../src/domain/reading.ts";
import type { CustomerRecord, RecordOutcome, TankRecord } from "../../../src/domain/records.ts";
import type { CustomerQuery, Store } from "../../../src/domain/store.ts";
import { putReadings } from "../../support/records.ts";
import type { Lifetime } from "../../support/service.ts";
import type { Engine } from "./engine.ts";
import { NaiveStore } from "./model.ts";
import { checked, customer, tank } from "./objects.ts";

const RUNS = 25;

// Few of everything, so that ids, instants, devices and e-mails meet again and again.
const CUSTOMERS = ["a", "A", "\u00e9", "\ufffd", "😀"];
const TANKS = ["a", "a ", "z", "\ue000", "\u{10000}", "t"];
const EMAILS = ["a@x.example", "A@x.example", "\u00e9@x.example", "e\u0301@x.example"];
const INSTANTS = [Date.parse("0000-01-01T00:00:00Z"), -1, 0, 1, 2, Date.parse("9999-12-31T23:59:59.999Z")];

const instant = fc.constantFrom(...INSTANTS);
const nullableInstant = fc.option(instant);
const customerId = fc.constantFrom(...CUSTOMERS);
const tankId = fc.constantFrom(...TANKS);
const isDeleted = fc.constantFrom(false, false, true);

const customerRecord: fc.Arbitrary<CustomerRecord> = fc.oneof(
  { weight: 1, arbitrary: customerId.map((remove) => ({ remove })) },
  {
    weight: 4,
    arbitrary: fc
      .record({
        id: customerId,
        created_at: instant,
        email: fc.constantFrom(...EMAILS),
        last_seen_at: nullableInstant,
        deleted: isDeleted,
      })
      .map(({ deleted, ...fields }) => ({ customer: customer(fields.id, fields), deleted })),
  },
);

const tankRecord: fc.Arbitrary<TankRecord> = fc.oneof(
  { weight: 1, arbitrary: tankId.map((remove) => ({ remove })) },
  {
    weight: 5,
    arbitrary: fc
      .record({
        id: tankId,
        owner_id: customerId,
        created_at: instant,
        assigned_device_id: fc.constantFrom("d1", "d2", "d3", "d4", "d5", "D1", "d6", "d7"),
        deleted: isDeleted,
      })
      .map(({ deleted, ...fields }) => ({
        tank: tank(fields.id, fields.owner_id, fields),
        deleted,
      })),
  },
);

const readings = fc.array(fc.tuple(fc.oneof(instant, fc.integer({ min: -3, max: 12 })), fc.constantFrom(0, 50, 0.1, 100)), {
  maxLength: 8,
});

const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("customers" as const), records: fc.array(customerRecord, { maxLength: 4 }) }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("tanks" as const), records: fc.array(tankRecord, { maxLength: 4 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("readings" as const), tankId, readings }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("touch" as const), id: customerId, at: instant }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

const bound = fc.option(fc.oneof(instant, fc.integer({ min: -3, max: 12 })), { nil: undefined });
const question: fc.Arbitrary<CustomerQuery & { readonly sight: string | null }> = fc.record({
  from: bound,
  to: bound,
  page: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5 })),
  size: fc.oneof(fc.constant(100), fc.integer({ min: 1, max: 4 })),
  email: fc.option(fc.constantFrom(...EMAILS), { nil: undefined }),
  sight: fc.option(fc.constantFrom(...CUSTOMERS, "")),
});

const steps = fc.array(fc.record({ command, questions: fc.array(question, { minLength: 1, maxLength: 3 }) }), {
  minLength: 1,
  maxLength: 40,
  size: "max",
});

export function modelConformance(engine: Engine): void {
  test("after any history of writes every list, total, range and sight is as a naive model says", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        await withLife(async (life) => {
          const { store, reopen } = await engine.open(life);
          const model = new NaiveStore();
          for (const step of history) {
            await obey(step.command, store, model);
            for (const asked of step.questions) await compare(asked, store, model);
          }
          await store.close();
          const again = await reopen();
          for (const sight of [null, ...CUSTOMERS]) {
            await compare({ from: undefined, to: undefined, page: 1, size: 100, email: undefined, sight }, again, model);
          }
          assert.deepEqual((await checked(again)).findings, []);
        });
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: 30_000 },
    );
  });
}

async function obey(given: Command, store: Store, model: NaiveStore): Promise<void> {
  switch (given.kind) {
    case "customers":
      assert.deepEqual(
        (await store.importCustomers(given.records)).map(word),
        given.records.map((one) => model.putCustomer(one)),
      );
      return;
    case "tanks":
      assert.deepEqual(
        (await store.importTanks(given.records)).map(word),
        given.records.map((one) => model.putTank(one)),
      );
      return;
    case "readings": {
      const outcomes = Array.from(await putReadings(store, given.tankId, given.readings), (code) => READING_OUTCOMES[code]);
      assert.deepEqual(
        outcomes,
        given.readings.map(([at, fill]) => model.putReading(given.tankId, at, fill)),
      );
      return;
    }
    case "touch":
      await store.updateLastSeen(new Map([[given.id, given.at]]));
      model.touch(given.id, given.at);
  }
}

async function compare(asked: CustomerQuery & { readonly sight: string | null }, store: Store, model: NaiveStore): Promise<void> {
  const { sight: customerId, ...question } = asked;
  const sight = { customerId };
  const said = JSON.stringify(asked);
  assert.deepEqual(await store.customerPage(question, sight), model.customerPage(question, sight), `customers ${said}`);
  assert.deepEqual(await store.tankPage(question, sight), model.tankPage(question, sight), `tanks ${said}`);
  for (const id of TANKS) {
    assert.deepEqual(await store.tankById(id, sight), model.tankById(id, sight), `tank ${id} ${said}`);
    const telemetry = await store.telemetryPage(id, question, sight);
    assert.deepEqual(telemetry, model.telemetryPage(id, question, sight), `telemetry of ${id} ${said}`);
  }
  for (const id of CUSTOMERS) {
    assert.deepEqual(await store.customerById(id, sight), model.customerById(id, sight), `customer ${id} ${said}`);
  }
}

const word = (outcome: RecordOutcome): string => (typeof outcome === "string" ? outcome : "rejected");

async function withLife(use: (life: Lifetime) => Promise<void>): Promise<void> {
  const ends: (() => unknown)[] = [];
  try {
    await use({ after: (end) => void ends.push(end as () => unknown) });
  } finally {
    for (const end of ends) await end();
  }
}
