// Which tank each arriving reading belongs to: the one that had the device at the reading's instant. What has none yet waits,
// and what cannot be read is rejected. The store is asked for what it knows, and stores what comes out.

import type { TankWithShape } from "./changes.ts";
import { type Device, type DeviceAssignment, tankAt, unknownDevice } from "./device.ts";
import { ask, type Inquiry } from "./inquiry.ts";
import { interpret } from "./interpret.ts";
import { profileNamed } from "./profile.ts";
import { type IncomingBatch, READING_OUTCOMES, type ReadingBatch, type ReadingSource } from "./reading.ts";

/** A reading that waits until its device has a tank, and a profile where it needs one. One of both tells the fill. */
export type PendingReading = {
  readonly device: string;
  readonly created_at: number;
  readonly fill: number | null;
  readonly payload: string | null;
  /** Of the key it was sent with: it may go to tanks of this customer alone. */
  readonly customer_id: string | null;
};

/** A device's, one reading's. */
type DeviceInstant = Pick<PendingReading, "device" | "created_at">;

export type Placement = {
  readonly readings: ReadingBatch;
  /** Where reading i stands in the batch of arrivals. */
  readonly positions: Uint32Array;
  readonly pending: readonly PendingReading[];
  /** Where something waits that came before, and of which this reading of the device is the last word. */
  readonly superseded: readonly DeviceInstant[];
  /** By place in the batch of arrivals; what becomes of `readings` is still to come. */
  readonly outcomes: Uint8Array;
  readonly reasons: ReadonlyMap<number, string>;
};

const TANK_UNKNOWN = READING_OUTCOMES.indexOf("tank_unknown");
const WAITING = READING_OUTCOMES.indexOf("waiting");
const REJECTED = READING_OUTCOMES.indexOf("rejected");

export function* placeReadings(batch: IncomingBatch): Inquiry<Placement> {
  const outcomes = new Uint8Array(batch.source.length);
  if (batch.sources.every(isDirect))
    return { ...directReadings(batch), pending: [], superseded: [], outcomes, reasons: new Map() };
  const known = yield* loadContext(batch);
  const reasons = new Map<number, string>();
  const waiting: PendingReading[] = [];
  const kept: Placed[] = [];
  const overtaken: DeviceInstant[] = [];
  batch.source.forEach((index, place) => {
    const source = batch.sources[index] as ReadingSource;
    const end = placeReading(source, batch, place, known);
    if ("fill" in end) {
      kept.push({ position: place, ...end });
      if (source.kind === "device" && known.devices.get(source.id)?.hasPending === true) {
        overtaken.push({ device: source.id, created_at: batch.createdAt[place] as number });
      }
    } else if ("waits" in end) {
      outcomes[place] = WAITING;
      waiting.push(end.waits);
    } else {
      outcomes[place] = "rejected" in end ? REJECTED : TANK_UNKNOWN;
      if ("rejected" in end) reasons.set(place, end.rejected);
    }
  });
  return { ...columnsOf(batch, kept), pending: waiting, superseded: overtaken, outcomes, reasons };
}

/** A tank that anybody may name: nothing has to be known of it. */
function isDirect({ kind, customerId }: ReadingSource): boolean {
  return kind === "tank" && customerId === null;
}

function directReadings({ sources, source, createdAt, fill }: IncomingBatch): Pick<Placement, "readings" | "positions"> {
  const readings = { tankIds: sources.map(({ id }) => id), tank: source, createdAt, fill };
  return { readings, positions: source.map((_, place) => place) };
}

type PlacementContext = {
  readonly devices: ReadonlyMap<string, Device>;
  readonly assignments: ReadonlyMap<string, readonly DeviceAssignment[]>;
  /** Of those of which more than the id matters. */
  readonly tanks: ReadonlyMap<string, TankWithShape>;
};

function* loadContext(batch: IncomingBatch): Inquiry<PlacementContext> {
  const devices = yield* ask(
    "devices",
    batch.sources.filter(({ kind }) => kind === "device").map(({ id }) => id),
  );
  const late = new Set<string>();
  batch.source.forEach((index, place) => {
    const device = devices.get((batch.sources[index] as ReadingSource).id);
    if (device !== undefined && (batch.createdAt[place] as number) < device.since) late.add(device.id);
  });
  const past = late.size === 0 ? [] : yield* ask("services", late);
  const services = Map.groupBy(past, ({ device }) => device);
  const tankIds = new Set<string>();
  batch.source.forEach((index, place) => {
    const source = batch.sources[index] as ReadingSource;
    if (source.customerId === null && !batch.payloads.has(place)) return;
    const tankId = tankOf(source, batch.createdAt[place] as number, { devices, assignments: services });
    if (tankId !== null) tankIds.add(tankId);
  });
  const tanks = tankIds.size === 0 ? new Map<string, TankWithShape>() : yield* ask("tanks", tankIds);
  return { devices, assignments: services, tanks };
}

/** The tank of a source at an instant; null where a device had none. */
function tankOf(
  { kind, id }: ReadingSource,
  at: number,
  { devices, assignments: services }: Omit<PlacementContext, "tanks">,
): string | null {
  return kind === "tank" ? id : tankAt(devices.get(id) ?? unknownDevice(id), services.get(id) ?? [], at);
}

type Placed = { readonly position: number; readonly tankId: string; readonly fill: number };
type PlacementOutcome =
  | Omit<Placed, "position">
  | { readonly waits: PendingReading }
  | { readonly rejected: string }
  | { readonly unknown: true };

function placeReading(source: ReadingSource, batch: IncomingBatch, place: number, known: PlacementContext): PlacementOutcome {
  const created_at = batch.createdAt[place] as number;
  const payload = batch.payloads.get(place) ?? null;
  const fill = payload === null ? (batch.fill[place] as number) : null;
  const tankId = tankOf(source, created_at, known);
  const tank = tankId === null ? undefined : known.tanks.get(tankId);
  // What is out of a sender's sight is as if it were not there; nor may it wait for a tank of somebody else.
  if (source.customerId !== null && tank?.tank.owner_id !== source.customerId) {
    return source.kind === "tank" ? { unknown: true } : { rejected: "device_id: there is no device with this id" };
  }
  const waits = { device: source.id, created_at, fill, payload, customer_id: source.customerId };
  if (tankId === null) return { waits };
  if (fill !== null) return { tankId, fill };
  const end = tank === undefined ? { pending: "" } : interpretPayload(String(payload), known.devices.get(source.id), tank);
  if ("pending" in end || ("rejected" in end && source.wasPending === true)) return { waits };
  return "rejected" in end ? end : { tankId, fill: end.fill };
}

/** As the device's profile says, in the tank's shape. */
export function interpretPayload(
  payload: string,
  device: Device | undefined,
  { tank, shape }: TankWithShape,
): ReturnType<typeof interpret> {
  const choice = device?.profile ?? null;
  const profile = typeof choice === "string" ? profileNamed(choice) : choice;
  const { capacity, capacity_unit } = tank;
  return interpret(JSON.parse(payload), profile ?? null, { shape, capacity, capacity_unit });
}

function columnsOf(batch: IncomingBatch, kept: readonly Placed[]): Pick<Placement, "readings" | "positions"> {
  const tanks = new Map<string, number>();
  const tank = Uint32Array.from(kept, ({ tankId }) => {
    const index = tanks.get(tankId) ?? tanks.size;
    tanks.set(tankId, index);
    return index;
  });
  const places = Uint32Array.from(kept, ({ position: place }) => place);
  return {
    readings: {
      tankIds: [...tanks.keys()],
      tank,
      createdAt: Float64Array.from(places, (place) => batch.createdAt[place] as number),
      fill: Float64Array.from(kept, ({ fill }) => fill),
    },
    positions: places,
  };
}

/** What became of the readings, put in its place among the arrivals. */
export function withStoreOutcomes({ positions: places, outcomes }: Placement, stored: Uint8Array): Uint8Array {
  stored.forEach((outcome, i) => {
    outcomes[places[i] as number] = outcome;
  });
  return outcomes;
}

/** As arrivals: when something has become known that they waited for. */
export function batchOfPending(waiting: readonly PendingReading[]): IncomingBatch {
  const sources: ReadingSource[] = [];
  const places = new Map<string, number>();
  const source = Uint32Array.from(waiting, ({ device: id, customer_id: customerId }) => {
    const name = JSON.stringify([id, customerId]);
    const place = places.get(name) ?? sources.push({ kind: "device", id, customerId }) - 1;
    places.set(name, place);
    return place;
  });
  return {
    sources,
    source,
    createdAt: Float64Array.from(waiting, ({ created_at }) => created_at),
    fill: Float64Array.from(waiting, ({ fill }) => fill ?? Number.NaN),
    payloads: new Map(waiting.flatMap(({ payload }, i) => (payload === null ? [] : [[i, payload]]))),
  };
}

/** A reading that waits no longer: it was taken in, or cannot be. */
export type ResolvedReading = DeviceInstant & { readonly isRejected: boolean };

/**
 * What has become of readings that waited, when something has become known. Where not one of a device's can be read, the
 * profile is not the right one: they wait on.
 */
export function resolvedReadings(waiting: readonly PendingReading[], outcomes: Uint8Array): ResolvedReading[] {
  const isTaken = (place: number): boolean => outcomes[place] !== WAITING && outcomes[place] !== REJECTED;
  const read = new Set(waiting.filter((_, place) => isTaken(place)).map(({ device }) => device));
  return waiting.flatMap(({ device, created_at }, place) => {
    if (outcomes[place] === WAITING || !read.has(device)) return [];
    return [{ device, created_at, isRejected: outcomes[place] === REJECTED }];
  });
}
