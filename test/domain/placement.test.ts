import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { TankWithShape } from "../../src/domain/changes.ts";
import { type Device, type DeviceAssignment, EARLIEST } from "../../src/domain/device.ts";
import type { Lookups } from "../../src/domain/lookups.ts";
import {
  batchOfPending,
  type PendingReading,
  type Placement,
  placeReadings,
  withStoreOutcomes,
} from "../../src/domain/placement.ts";
import { type IncomingBatch, READING_OUTCOMES } from "../../src/domain/reading.ts";
import type { Shape } from "../../src/domain/shape.ts";
import { tank } from "../store/conformance/objects.ts";
import { incomingBatch, type SentReading } from "../support/readings.ts";
import { lookupsOf, type StoredObjects } from "./lookups.ts";

const HIGH: Shape = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };
const shaped = (id: string, owner: string, shape: Shape | null = null): TankWithShape => ({
  tank: tank(id, owner),
  deleted: false,
  shape,
});
const device = (id: string, tank_id: string | null, more: Partial<Device> = {}): Device => ({
  id,
  tank_id,
  since: EARLIEST,
  profile: null,
  ...more,
});

/** "d" was at A until 10, is at B since; "free" has no tank any more; "elsys" can be read. */
const FLEET = {
  tanks: [shaped("A", "anna"), shaped("B", "ben"), shaped("high", "anna", HIGH)],
  devices: [
    device("d", "B", { since: 10 }),
    device("free", null, { since: 10 }),
    device("elsys", "high", { profile: "elsys" }),
    device("shapeless", "A", { profile: "elsys" }),
  ],
  assignments: [
    { device: "d", until: 10, tankId: "A" },
    { device: "free", until: 10, tankId: "A" },
  ],
} as const satisfies StoredObjects;

const place = (known: StoredObjects, ...sent: SentReading[]): Promise<Placement> =>
  placeReadings(lookupsOf(known), incomingBatch(sent));

/** Where each arrival goes, or what becomes of it, in words. */
function endsOf({ readings, positions: places, outcomes, reasons }: Placement): unknown[] {
  const ends: unknown[] = Array.from(outcomes, (code, i) => reasons.get(i) ?? READING_OUTCOMES[code]);
  places.forEach((at, i) => {
    ends[at] = [readings.tankIds[readings.tank[i] as number], readings.createdAt[i], readings.fill[i]];
  });
  return ends;
}

test("a reading by device goes to the tank that had the device at its instant", async () => {
  const at = (instant: number): SentReading => ({ device: "d", at: instant, fill: 5 });
  const ends = endsOf(await place(FLEET, at(11), at(9), at(10), at(-5), { device: "free", at: 9, fill: 6 }));
  assert.deepEqual(ends, [
    ["B", 11, 5],
    ["A", 9, 5],
    ["B", 10, 5],
    ["A", -5, 5],
    ["A", 9, 6],
  ]);
});

test("what has no tank waits, and so does what cannot be read yet, each with all that was sent", async () => {
  const sent: SentReading[] = [
    { device: "free", at: 10, fill: 5 },
    { device: "unheard-of", at: 1, payload: { distance: 3 } },
    { device: "d", at: 11, payload: { distance: 3 } },
    { device: "shapeless", at: 1, payload: { distance: 3 } },
  ];
  const placement = await place(FLEET, ...sent);
  assert.deepEqual(endsOf(placement), ["waiting", "waiting", "waiting", "waiting"]);
  assert.deepEqual(placement.pending, [
    { device: "free", created_at: 10, fill: 5, payload: null, customer_id: null },
    { device: "unheard-of", created_at: 1, fill: null, payload: '{"distance":3}', customer_id: null },
    { device: "d", created_at: 11, fill: null, payload: '{"distance":3}', customer_id: null },
    { device: "shapeless", created_at: 1, fill: null, payload: '{"distance":3}', customer_id: null },
  ]);
});

test("a payload is read by the device's profile and the shape of the tank it was measured in", async () => {
  const moved: StoredObjects = {
    ...FLEET,
    tanks: [...FLEET.tanks, shaped("low", "anna", { ...HIGH, height: 1, sensor_height: 1 })],
    devices: [device("elsys", "high", { profile: "elsys", since: 10 })],
    assignments: [{ device: "elsys", until: 10, tankId: "low" }],
  };
  const at = (instant: number, distance: unknown): SentReading => ({ device: "elsys", at: instant, payload: { distance } });
  const [before, after, below, text] = endsOf(await place(moved, at(9, 500), at(10, 500), at(11, 2500), at(12, "500")));
  assert.deepEqual(
    [before, after],
    [
      ["low", 9, 50],
      ["high", 10, 75],
    ],
  );
  assert.match(String(below), /^distance: 2500 mm puts the surface at/);
  assert.match(String(text), /^distance: must be a number, not the string "500"/);
});

test("without a profile a number named fill_percentage is the fill, and what is no fill is refused", async () => {
  const sent = [5, -0, 101, "5"].map(
    (fill_percentage, i): SentReading => ({ device: "d", at: 20 + i, payload: { fill_percentage } }),
  );
  const [five, zero, high, text] = endsOf(await place(FLEET, ...sent));
  assert.deepEqual(
    [five, zero],
    [
      ["B", 20, 5],
      ["B", 21, 0],
    ],
  );
  assert.match(String(high), /^fill_percentage: 101 is outside/);
  assert.match(String(text), /^fill_percentage: must be a number, not the string "5"/);
});

test("a sender that is bound to a customer reaches that customer's tanks, and cannot tell the others from none", async () => {
  const as = (customerId: string, one: SentReading): SentReading => ({ ...one, customerId });
  const tankOf = (id: string) => ({ tank: id, at: 20, fill: 5 });
  const deviceOf = (id: string, at: number) => ({ device: id, at, fill: 5 });
  const [own, foreign, none] = ["A", "B", "nobody"].map((id) => as("anna", tankOf(id)));
  const devices = [deviceOf("d", 9), deviceOf("d", 10), deviceOf("free", 9), deviceOf("free", 10), deviceOf("unheard-of", 1)];
  const placement = await place(
    FLEET,
    own as SentReading,
    foreign as SentReading,
    none as SentReading,
    ...devices.map((one) => as("anna", one)),
  );
  const unknown = "device_id: there is no device with this id";
  assert.deepEqual(endsOf(placement), [
    ["A", 20, 5],
    "tank_unknown",
    "tank_unknown",
    ["A", 9, 5],
    unknown,
    ["A", 9, 5],
    unknown,
    unknown,
  ]);
  assert.deepEqual(placement.pending, [], "nothing waits for somebody else's tank");
});

test("readings by tank from a sender that may name any are passed on as they came, and nothing is asked", async () => {
  const batch = incomingBatch([
    { tank: "A", at: 1, fill: 5 },
    { tank: "nobody", at: 2, fill: 6 },
    { tank: "A", at: 1, fill: 7 },
  ]);
  const unused = (): never => assert.fail("nothing is looked up");
  const lookups = Object.fromEntries(Object.keys(lookupsOf({})).map((name) => [name, unused])) as unknown as Lookups;
  assert.deepEqual(endsOf(await placeReadings(lookups, batch)), [
    ["A", 1, 5],
    ["nobody", 2, 6],
    ["A", 1, 7],
  ]);
});

test("earlier assignments are asked for only where a reading is from before the last move", async () => {
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
    of: fc.oneof(
      fc.constantFrom("A", "B", "high", "nobody").map((id) => ({ tank: id })),
      fc.constantFrom("d", "free", "elsys", "shapeless", "unheard-of").map((id) => ({ device: id })),
    ),
    at: fc.integer({ min: 7, max: 13 }),
    measured: fc.oneof(
      fc.constantFrom(0, 50).map((fill) => ({ fill })),
      fc.constantFrom({ fill_percentage: 7 }, { distance: 500 }, {}).map((payload) => ({ payload })),
    ),
    customerId: fc.option(fc.constantFrom("anna", "ben"), { nil: undefined }),
  })
  .map(({ of, at, measured, customerId }) => {
    // Payloads come from devices.
    const fill = "tank" in of && "payload" in measured ? { fill: 1 } : measured;
    return { ...of, at, ...fill, ...(customerId === undefined ? {} : { customerId }) } as SentReading;
  });

test("what becomes of a reading does not depend on what arrives with it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anySent, { maxLength: 20 }), async (sent) => {
      const alone = await Promise.all(sent.map(async (one) => endsOf(await place(FLEET, one))[0]));
      assert.deepEqual(endsOf(await place(FLEET, ...sent)), alone);
    }),
  );
});

test("what became of the readings is put in its place among the arrivals", async () => {
  const sent: SentReading[] = [
    { device: "free", at: 10, fill: 5 },
    { device: "d", at: 11, fill: 5 },
    { device: "elsys", at: 1, payload: { distance: "no" } },
    { device: "d", at: 11, fill: 6 },
  ];
  const outcomes = withStoreOutcomes(await place(FLEET, ...sent), Uint8Array.of(0, 1));
  assert.deepEqual(
    Array.from(outcomes, (code) => READING_OUTCOMES[code]),
    ["waiting", "new", "rejected", "changed"],
  );
});

test("what waited arrives again as it came", async () => {
  const waiting: PendingReading[] = [
    { device: "d", created_at: 11, fill: 5, payload: null, customer_id: null },
    { device: "elsys", created_at: 1, fill: null, payload: '{"distance":500}', customer_id: null },
    { device: "d", created_at: 9, fill: 0, payload: null, customer_id: null },
    { device: "free", created_at: 12, fill: 1, payload: null, customer_id: null },
  ];
  const batch: IncomingBatch = batchOfPending(waiting);
  const placement = await placeReadings(lookupsOf(FLEET), batch);
  assert.deepEqual(endsOf(placement), [["B", 11, 5], ["high", 1, 75], ["A", 9, 0], "waiting"]);
  assert.deepEqual(placement.pending, [waiting[3]]);
});

const assignments = fc
  .uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 5 })
  .map((untils) => untils.toSorted((a, b) => a - b))
  .chain((untils) => fc.tuple(...untils.map((until) => fc.constantFrom("A", "B", "C").map((tankId) => ({ until, tankId })))))
  .map((list): DeviceAssignment[] => list.map((one) => ({ device: "d", ...one })));

test("whatever the assignments of a device were, its backlog goes to the tanks it served, each reading by itself", async () => {
  await fc.assert(
    fc.asyncProperty(assignments, fc.option(fc.constantFrom("A", "B", "C")), async (past, now) => {
      const since = past.at(-1)?.until ?? EARLIEST;
      const known = { devices: [device("d", now, { since })], assignments: past };
      const instants = Array.from({ length: 32 }, (_, i) => i);
      const ends = endsOf(await place(known, ...instants.map((at): SentReading => ({ device: "d", at, fill: 1 }))));
      instants.forEach((at, i) => {
        const tankId = past.find(({ until }) => at < until)?.tankId ?? now;
        assert.deepEqual(ends[i], tankId === null ? "waiting" : [tankId, at, 1]);
      });
    }),
  );
});
