// Which tank each arriving reading belongs to: the one that had the device at the reading's instant. What has none yet waits,
// and what cannot be read is rejected. The store is asked for what it knows, and stores what comes out.

import { type Device, type Service, strangeDevice, tankAt } from "./device.ts";
import type { ShapedTank } from "./fleet.ts";
import { ask, type Inquiry } from "./inquiry.ts";
import { interpret } from "./interpret.ts";
import { profileNamed } from "./profile.ts";
import { type ArrivalBatch, READING_OUTCOMES, type ReadingBatch, type Source } from "./reading.ts";

/** A reading that waits until its device has a tank, and a profile where it needs one. One of both tells the fill. */
export type Waiting = {
  readonly device: string;
  readonly created_at: number;
  readonly fill: number | null;
  readonly payload: string | null;
  /** Of the key it was sent with: it may go to tanks of this customer alone. */
  readonly customer_id: string | null;
};

/** A device's, one reading's. */
type Moment = Pick<Waiting, "device" | "created_at">;

export type Placement = {
  readonly readings: ReadingBatch;
  /** Where reading i stands in the batch of arrivals. */
  readonly places: Uint32Array;
  readonly waiting: readonly Waiting[];
  /** Where something waits that came before, and of which this reading of the device is the last word. */
  readonly overtaken: readonly Moment[];
  /** By place in the batch of arrivals; what becomes of `readings` is still to come. */
  readonly outcomes: Uint8Array;
  readonly reasons: ReadonlyMap<number, string>;
};

const TANK_UNKNOWN = READING_OUTCOMES.indexOf("tank_unknown");
const WAITING = READING_OUTCOMES.indexOf("waiting");
const REJECTED = READING_OUTCOMES.indexOf("rejected");

export function* placed(batch: ArrivalBatch): Inquiry<Placement> {
  const outcomes = new Uint8Array(batch.source.length);
  if (batch.sources.every(isPlain)) return { ...asTheyAre(batch), waiting: [], overtaken: [], outcomes, reasons: new Map() };
  const known = yield* whatIsKnown(batch);
  const reasons = new Map<number, string>();
  const waiting: Waiting[] = [];
  const kept: Kept[] = [];
  const overtaken: Moment[] = [];
  batch.source.forEach((index, place) => {
    const source = batch.sources[index] as Source;
    const end = endOf(source, batch, place, known);
    if ("fill" in end) {
      kept.push({ place, ...end });
      if (source.kind === "device" && known.devices.get(source.id)?.waits === true) {
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
  return { ...columnsOf(batch, kept), waiting, overtaken, outcomes, reasons };
}

/** A tank that anybody may name: nothing has to be known of it. */
function isPlain({ kind, customerId }: Source): boolean {
  return kind === "tank" && customerId === null;
}

function asTheyAre({ sources, source, createdAt, fill }: ArrivalBatch): Pick<Placement, "readings" | "places"> {
  const readings = { tankIds: sources.map(({ id }) => id), tank: source, createdAt, fill };
  return { readings, places: source.map((_, place) => place) };
}

type Known = {
  readonly devices: ReadonlyMap<string, Device>;
  readonly services: ReadonlyMap<string, readonly Service[]>;
  /** Of those of which more than the id matters. */
  readonly tanks: ReadonlyMap<string, ShapedTank>;
};

function* whatIsKnown(batch: ArrivalBatch): Inquiry<Known> {
  const devices = yield* ask(
    "devices",
    batch.sources.filter(({ kind }) => kind === "device").map(({ id }) => id),
  );
  const late = new Set<string>();
  batch.source.forEach((index, place) => {
    const device = devices.get((batch.sources[index] as Source).id);
    if (device !== undefined && (batch.createdAt[place] as number) < device.since) late.add(device.id);
  });
  const past = late.size === 0 ? [] : yield* ask("services", late);
  const services = Map.groupBy(past, ({ device }) => device);
  const tankIds = new Set<string>();
  batch.source.forEach((index, place) => {
    const source = batch.sources[index] as Source;
    if (source.customerId === null && !batch.payloads.has(place)) return;
    const tankId = tankOf(source, batch.createdAt[place] as number, { devices, services });
    if (tankId !== null) tankIds.add(tankId);
  });
  const tanks = tankIds.size === 0 ? new Map<string, ShapedTank>() : yield* ask("tanks", tankIds);
  return { devices, services, tanks };
}

/** The tank of a source at an instant; null where a device had none. */
function tankOf({ kind, id }: Source, at: number, { devices, services }: Omit<Known, "tanks">): string | null {
  return kind === "tank" ? id : tankAt(devices.get(id) ?? strangeDevice(id), services.get(id) ?? [], at);
}

type Kept = { readonly place: number; readonly tankId: string; readonly fill: number };
type End = Omit<Kept, "place"> | { readonly waits: Waiting } | { readonly rejected: string } | { readonly unknown: true };

function endOf(source: Source, batch: ArrivalBatch, place: number, known: Known): End {
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
  const end = tank === undefined ? { waits: "" } : read(String(payload), known.devices.get(source.id), tank);
  if ("waits" in end || ("rejected" in end && source.hasWaited === true)) return { waits };
  return "rejected" in end ? end : { tankId, fill: end.fill };
}

/** As the device's profile says, in the tank's shape. */
export function read(payload: string, device: Device | undefined, { tank, shape }: ShapedTank): ReturnType<typeof interpret> {
  const choice = device?.profile ?? null;
  const profile = typeof choice === "string" ? profileNamed(choice) : choice;
  const { capacity, capacity_unit } = tank;
  return interpret(JSON.parse(payload), profile ?? null, { shape, capacity, capacity_unit });
}

function columnsOf(batch: ArrivalBatch, kept: readonly Kept[]): Pick<Placement, "readings" | "places"> {
  const tanks = new Map<string, number>();
  const tank = Uint32Array.from(kept, ({ tankId }) => {
    const index = tanks.get(tankId) ?? tanks.size;
    tanks.set(tankId, index);
    return index;
  });
  const places = Uint32Array.from(kept, ({ place }) => place);
  return {
    readings: {
      tankIds: [...tanks.keys()],
      tank,
      createdAt: Float64Array.from(places, (place) => batch.createdAt[place] as number),
      fill: Float64Array.from(kept, ({ fill }) => fill),
    },
    places,
  };
}

/** What became of the readings, put in its place among the arrivals. */
export function withStored({ places, outcomes }: Placement, stored: Uint8Array): Uint8Array {
  stored.forEach((outcome, i) => {
    outcomes[places[i] as number] = outcome;
  });
  return outcomes;
}

/** As arrivals: when something has become known that they waited for. */
export function batchOfWaiting(waiting: readonly Waiting[]): ArrivalBatch {
  const sources: Source[] = [];
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
export type Ended = Moment & { readonly isRejected: boolean };

/**
 * What has become of readings that waited, when something has become known. Where not one of a device's can be read, the
 * profile is not the right one: they wait on.
 */
export function endedOf(waiting: readonly Waiting[], outcomes: Uint8Array): Ended[] {
  const isTaken = (place: number): boolean => outcomes[place] !== WAITING && outcomes[place] !== REJECTED;
  const read = new Set(waiting.filter((_, place) => isTaken(place)).map(({ device }) => device));
  return waiting.flatMap(({ device, created_at }, place) => {
    if (outcomes[place] === WAITING || !read.has(device)) return [];
    return [{ device, created_at, isRejected: outcomes[place] === REJECTED }];
  });
}
