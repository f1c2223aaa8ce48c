import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { Lookups } from "../../src/domain/lookups.ts";
import { batchOfPending, type Placement, placeReadings, setStoreOutcomes } from "../../src/domain/placement.ts";
import { READING_OUTCOMES } from "../../src/domain/reading.ts";
import type { Shape } from "../../src/domain/shape.ts";
import { incomingBatch, type SentReading } from "../support/readings.ts";
import { device, lookupsOf, type StoredObjects, storedTank } from "./lookups.ts";

const HIGH: Shape = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };

/** "d" was at A until 10, and is at B since; "free" has no tank since 10; only payloads of "elsys" can be interpreted. */
const FLEET = {
  tanks: [storedTank("A", "anna"), storedTank("B", "ben"), { ...storedTank("high", "anna"), shape: HIGH }],
  devices: [
    device("d", "B", { since: 10 }),
    device("free", null, { since: 10 }),
    device("elsys", "high", { profile: "elsys" }),
    device("shapeless", "A", { profile: "elsys" }),
  ],
  assignments: ["d", "free"].map((id) => ({ device: id, until: 10, tankId: "A" })),
} satisfies StoredObjects;

const place = (sent: readonly SentReading[], stored: StoredObjects = FLEET): Promise<Placement> =>
  placeReadings(lookupsOf(stored), incomingBatch(sent));

/** For each incoming reading its tank, instant and fill, or else its outcome or the reason why it is rejected. */
function resultsOf({ readings, positions, outcomes, reasons }: Placement): string[] {
  const results = Array.from(outcomes, (code, i) => reasons.get(i) ?? String(READING_OUTCOMES[code]));
  positions.forEach((position, i) => {
    results[position] = `${readings.tankIds[readings.tank[i] as number]} at ${readings.createdAt[i]}: ${readings.fill[i]}`;
  });
  return results;
}

test("a reading of a device belongs to the tank that it was assigned to at that instant", async () => {
  const sent = [11, 9, 10, -5].map((at): SentReading => ({ device: "d", at, fill: 5 }));
  const results = resultsOf(await place([...sent, { device: "free", at: 9, fill: 6 }]));
  assert.deepEqual(results, ["B at 11: 5", "A at 9: 5", "B at 10: 5", "A at -5: 5", "A at 9: 6"]);
});

test("a reading without a tank is pending, and so is a payload that cannot be interpreted yet, as it was sent", async () => {
  const placement = await place([
    { device: "free", at: 10, fill: 5 },
    { device: "unknown", at: 1, payload: { distance: 3 } },
    { device: "d", at: 11, payload: { distance: 3 } },
    { device: "shapeless", at: 1, payload: { distance: 3 } },
  ]);
  assert.deepEqual(resultsOf(placement), ["pending", "pending", "pending", "pending"]);
  const payload = { fill: null, payload: '{"distance":3}', customer_id: null };
  assert.deepEqual(placement.pending, [
    { device: "free", created_at: 10, fill: 5, payload: null, customer_id: null },
    { device: "unknown", created_at: 1, ...payload },
    { device: "d", created_at: 11, ...payload },
    { device: "shapeless", created_at: 1, ...payload },
  ]);
});

test("a pending reading of the same batch is replaced by a later one of its instant that has a tank", async () => {
  const [unreadable, other, readable] = [
    { device: "d", at: 11, payload: { distance: 3 } },
    { device: "d", at: 12, payload: { distance: 3 } },
    { device: "d", at: 11, fill: 5 },
  ];
  const replaced = await place([unreadable, other, readable]);
  assert.deepEqual(resultsOf(replaced), ["pending", "pending", "B at 11: 5"]);
  assert.deepEqual(
    replaced.pending.map(({ created_at }) => created_at),
    [12],
  );
  assert.equal((await place([readable, unreadable])).pending.length, 1);
});

test("a payload is interpreted by the device's profile and the shape of the tank that it was assigned to then", async () => {
  const low = { ...storedTank("low", "anna"), shape: { ...HIGH, height: 1, sensor_height: 1 } };
  const stored = {
    tanks: [...FLEET.tanks, low],
    devices: [device("elsys", "high", { profile: "elsys", since: 10 })],
    assignments: [{ device: "elsys", until: 10, tankId: "low" }],
  };
  const sent = [500, 500, 2500, "500"].map((distance, i): SentReading => ({ device: "elsys", at: 9 + i, payload: { distance } }));
  const [before, after, outside, text] = resultsOf(await place(sent, stored));
  assert.deepEqual([before, after], ["low at 9: 50", "high at 10: 75"]);
  assert.match(outside ?? "", /^distance: 2500 mm puts the surface at/);
  assert.match(text ?? "", /^distance: must be a number, not the string "500"/);
});

test("a sender bound to a customer can send for that customer's tanks; others do not exist for it", async () => {
  const tanks = ["A", "B", "nobody"].map((id) => ({ tank: id, at: 20, fill: 5 }));
  const instants = { d: [9, 10], free: [9, 10], unknown: [1] };
  const devices = Object.entries(instants).flatMap(([id, list]) => list.map((at) => ({ device: id, at, fill: 5 })));
  const placement = await place([...tanks, ...devices].map((sent) => ({ ...sent, customerId: "anna" })));
  const unknown = "device_id: there is no device with this id";
  const ofTanks = ["A at 20: 5", "tank_unknown", "tank_unknown"];
  assert.deepEqual(resultsOf(placement), [...ofTanks, "A at 9: 5", unknown, "A at 9: 5", unknown, unknown]);
  assert.deepEqual(placement.pending, [], "nothing is pending for a tank of somebody else");
});

test("readings of tanks from an unrestricted sender are passed on unchanged, without a lookup", async () => {
  const sent = ["A", "nobody", "A"].map((id, i) => ({ tank: id, at: 1, fill: i }));
  const unused = (): never => assert.fail("nothing is looked up");
  const lookups = Object.fromEntries(Object.keys(lookupsOf({})).map((name) => [name, unused])) as unknown as Lookups;
  const results = resultsOf(await placeReadings(lookups, incomingBatch(sent)));
  assert.deepEqual(results, ["A at 1: 0", "nobody at 1: 1", "A at 1: 2"]);
});

test("past assignments are looked up only for a reading from before the last move", async () => {
  const lookedUp = async (at: number): Promise<string[]> => {
    const names: string[] = [];
    const lookups = new Proxy(lookupsOf(FLEET), {
      get(target, name: keyof Lookups) {
        names.push(name);
        return target[name];
      },
    });
    await placeReadings(lookups, incomingBatch([{ device: "d", at, fill: 5 }]));
    return names;
  };
  assert.deepEqual(await lookedUp(10), ["devices"]);
  assert.deepEqual(await lookedUp(9), ["devices", "assignments"]);
});

const anySent: fc.Arbitrary<SentReading> = fc
  .record({
    source: fc.oneof(
      fc.constantFrom("A", "B", "high", "nobody").map((id) => ({ tank: id })),
      fc.constantFrom("d", "free", "elsys", "shapeless", "unknown").map((id) => ({ device: id })),
    ),
    at: fc.integer({ min: 7, max: 13 }),
    measured: fc.oneof(
      fc.constantFrom(0, 50).map((fill) => ({ fill })),
      fc.constantFrom({ fill_percentage: 7 }, { distance: 500 }, {}).map((payload) => ({ payload })),
    ),
    customerId: fc.option(fc.constantFrom("anna", "ben"), { nil: undefined }),
  })
  .map(({ source, at, measured, customerId }) => {
    // Only devices send payloads.
    const fill = "tank" in source && "payload" in measured ? { fill: 1 } : measured;
    return { ...source, at, ...fill, ...(customerId === undefined ? {} : { customerId }) } as SentReading;
  });

test("where a reading goes does not depend on the others in its batch", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anySent, { maxLength: 20 }), async (sent) => {
      const alone = await Promise.all(sent.map(async (one) => resultsOf(await place([one]))[0]));
      assert.deepEqual(resultsOf(await place(sent)), alone);
    }),
  );
});

test("the outcomes of stored readings are those of their positions in the batch", async () => {
  const placement = await place([
    { device: "free", at: 10, fill: 5 },
    { device: "d", at: 11, fill: 5 },
    { device: "elsys", at: 1, payload: { distance: "no" } },
    { device: "d", at: 11, fill: 6 },
  ]);
  const outcomes = Array.from(setStoreOutcomes(placement, Uint8Array.of(0, 1)), (code) => READING_OUTCOMES[code]);
  assert.deepEqual(outcomes, ["pending", "stored", "rejected", "replaced"]);
});

test("pending readings can be placed again", async () => {
  const reading = { payload: null, customer_id: null };
  const pending = [
    { device: "d", created_at: 11, fill: 5, ...reading },
    { device: "elsys", created_at: 1, fill: null, payload: '{"distance":500}', customer_id: null },
    { device: "d", created_at: 9, fill: 0, ...reading },
    { device: "free", created_at: 12, fill: 1, ...reading },
  ];
  const placement = await placeReadings(lookupsOf(FLEET), batchOfPending(pending));
  assert.deepEqual(resultsOf(placement), ["B at 11: 5", "high at 1: 75", "A at 9: 0", "pending"]);
  assert.deepEqual(placement.pending, [pending[3]]);
});
