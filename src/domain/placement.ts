// Which tank each incoming reading belongs to: the one its device was assigned to at the reading's instant. A reading without a
// tank, or without a profile that can interpret its payload, is pending; one that cannot be interpreted is rejected.

import type { TankState } from "./changes.ts";
import { type Device, type DeviceAssignment, tankAt, unknownDevice } from "./device.ts";
import type { Instant } from "./instant.ts";
import { interpret } from "./interpret.ts";
import type { Lookups } from "./lookups.ts";
import { profileNamed } from "./profile.ts";
import { type IncomingBatch, OUTCOME, type ReadingBatch, type ReadingSource } from "./reading.ts";
import type { ManagedDevice } from "./resource.ts";

/** While this many devices have pending readings, those of further unknown devices are rejected. */
export const MAX_DEVICES_WITH_PENDING = 10_000;

/** A reading that is kept until its device has a tank, and a profile where it needs one. Either `fill` or `payload` is set. */
export type PendingReading = {
  readonly device: string;
  readonly created_at: number;
  readonly fill: number | null;
  readonly payload: string | null;
  /** The customer that the sender's key was bound to: only tanks of this customer may receive the reading. */
  readonly customer_id: string | null;
};

/** Identifies one reading of a device. */
type DeviceInstant = Pick<PendingReading, "device" | "created_at">;

export type Placement = {
  readonly readings: ReadingBatch;
  /** Position of reading i in the incoming batch. */
  readonly positions: Uint32Array;
  readonly pending: readonly PendingReading[];
  /** Readings of devices that have pending ones: a pending reading of the same instant is replaced by them. */
  readonly superseded: readonly DeviceInstant[];
  /** Outcomes by position in the incoming batch; those of `readings` are set once they are stored. */
  readonly outcomes: Uint8Array;
  readonly reasons: ReadonlyMap<number, string>;
};

/** Places the readings at these positions of the batch: all of them by default. */
export async function placeReadings(lookups: Lookups, batch: IncomingBatch, only?: Uint32Array): Promise<Placement> {
  const outcomes = new Uint8Array(batch.sourceOf.length).fill(OUTCOME.stored);
  const all = only ?? batch.sourceOf.map((_, position) => position);
  if (batch.sources.every(isUnboundTank)) {
    const readings = {
      tankIds: batch.sources.map(({ id }) => id),
      tank: batch.sourceOf,
      createdAt: batch.createdAt,
      fill: batch.fill,
    };
    return { readings, positions: all, pending: [], superseded: [], outcomes, reasons: new Map() };
  }
  const context = await loadContext(lookups, batch, all);
  const reasons = new Map<number, string>();
  const pending = new Map<string, PendingReading>();
  const placed: Placed[] = [];
  const superseded: DeviceInstant[] = [];
  for (const position of all) {
    const source = sourceAt(batch, position);
    const result = placeReading(source, batch, position, context);
    if ("fill" in result) {
      placed.push({ position, tankId: result.tankId, fill: result.fill });
      // One of the same batch, too: it may be joined from the requests of several keys.
      if (source.kind === "device" && pending.size > 0) pending.delete(`${batch.createdAt[position]} ${source.id}`);
      if (source.kind === "device" && (context.devices.get(source.id)?.pending ?? 0) > 0) {
        superseded.push({ device: source.id, created_at: batch.createdAt[position] as number });
      }
    } else if ("pending" in result && context.newDevices.admits(source)) {
      outcomes[position] = OUTCOME.pending;
      pending.set(`${batch.createdAt[position]} ${source.id}`, result.pending);
    } else if ("pending" in result) {
      outcomes[position] = OUTCOME.rejected;
      reasons.set(position, tooManyDevices());
    } else {
      outcomes[position] = "rejected" in result ? OUTCOME.rejected : OUTCOME.tank_unknown;
      if ("rejected" in result) reasons.set(position, result.rejected);
    }
  }
  return { ...placedColumns(batch, placed), pending: [...pending.values()], superseded, outcomes, reasons };
}

const sourceAt = (batch: IncomingBatch, position: number): ReadingSource =>
  batch.sources[batch.sourceOf[position] as number] as ReadingSource;

/** Nothing has to be looked up to place its readings. */
function isUnboundTank({ kind, customerId }: ReadingSource): boolean {
  return kind === "tank" && customerId === null;
}

type PlacementContext = {
  readonly devices: ReadonlyMap<string, ManagedDevice>;
  readonly newDevices: NewDevices;
  readonly assignments: ReadonlyMap<string, readonly DeviceAssignment[]>;
  /** Only the tanks of which more than the id is needed. */
  readonly tanks: ReadonlyMap<string, TankState>;
  readonly receivedAt: Instant | undefined;
};

async function loadContext(lookups: Lookups, batch: IncomingBatch, positions: Uint32Array): Promise<PlacementContext> {
  const sources = Array.from(new Set(positions.map((position) => batch.sourceOf[position] as number)), (i) => batch.sources[i]);
  const devices = await lookups.devices(sources.flatMap((source) => (source?.kind === "device" ? [source.id] : [])));
  const moved = new Set<string>();
  for (const position of positions) {
    const known = devices.get(sourceAt(batch, position).id);
    if (known !== undefined && (batch.createdAt[position] as number) < known.device.since) moved.add(known.device.id);
  }
  const isNew = (source: ReadingSource | undefined): boolean =>
    source?.kind === "device" && source.customerId === null && !devices.has(source.id);
  const before = sources.some(isNew) ? await lookups.devicesWithPending(MAX_DEVICES_WITH_PENDING) : 0;
  const newDevices = new NewDevices(devices, MAX_DEVICES_WITH_PENDING - before);
  const past = moved.size === 0 ? [] : await lookups.assignments([...moved]);
  const assignments = Map.groupBy(past, ({ device }) => device);
  const { receivedAt } = batch;
  const tankIds = new Set<string>();
  for (const position of positions) {
    const source = sourceAt(batch, position);
    if (source.customerId === null && !batch.payloads.has(position)) continue;
    const tankId = tankOf(source, batch.createdAt[position] as number, { devices, assignments, receivedAt });
    if (tankId !== null) tankIds.add(tankId);
  }
  const tanks = tankIds.size === 0 ? new Map<string, TankState>() : await lookups.tanks([...tankIds]);
  return { devices, newDevices, assignments, tanks, receivedAt };
}

// A function: loading the number format takes 25 ms, which each start would have to wait for.
const tooManyDevices = (): string =>
  `device_id: this device is unknown, and ${MAX_DEVICES_WITH_PENDING.toLocaleString("en")} devices have pending readings already; assign it to a tank first`;

/** Unknown devices whose readings may become pending. */
class NewDevices {
  readonly #known: ReadonlyMap<string, unknown>;
  readonly #max: number;
  readonly #admitted = new Set<string>();

  constructor(known: ReadonlyMap<string, unknown>, max: number) {
    this.#known = known;
    this.#max = max;
  }

  /** What was pending in another database is kept. */
  admits({ id, wasPending }: ReadingSource): boolean {
    if (this.#known.has(id) || this.#admitted.has(id) || wasPending === true) return true;
    if (this.#admitted.size >= this.#max) return false;
    this.#admitted.add(id);
    return true;
  }
}

/** The tank of a source at an instant; null where its device was assigned to none. */
function tankOf(
  { kind, id }: ReadingSource,
  at: number,
  { devices, assignments, receivedAt }: Pick<PlacementContext, "devices" | "assignments" | "receivedAt">,
): string | null {
  return kind === "tank" ? id : tankAt(devices.get(id)?.device ?? unknownDevice(id), assignments.get(id) ?? [], at, receivedAt);
}

type Placed = { readonly position: number; readonly tankId: string; readonly fill: number };
type PlacementResult =
  | Omit<Placed, "position">
  | { readonly pending: PendingReading }
  | { readonly rejected: string }
  | { readonly tankUnknown: true };

function placeReading(source: ReadingSource, batch: IncomingBatch, position: number, context: PlacementContext): PlacementResult {
  const created_at = batch.createdAt[position] as number;
  const payload = batch.payloads.get(position) ?? null;
  const fill = payload === null ? (batch.fill[position] as number) : null;
  const tankId = tankOf(source, created_at, context);
  const tank = tankId === null ? undefined : context.tanks.get(tankId);
  // To a sender bound to a customer, tanks and devices of others do not exist; nor may its readings become pending for them.
  if (source.customerId !== null && tank?.tank.owner_id !== source.customerId) {
    return source.kind === "tank" ? { tankUnknown: true } : { rejected: "device_id: there is no device with this id" };
  }
  const asPending = () => ({ pending: { device: source.id, created_at, fill, payload, customer_id: source.customerId } });
  if (tankId === null) return asPending();
  if (fill !== null) return { tankId, fill };
  if (tank === undefined) return asPending();
  const result = interpretPayload(String(payload), context.devices.get(source.id)?.device, tank);
  if ("fill" in result) return { tankId, fill: result.fill };
  return "rejected" in result && source.wasPending !== true ? result : asPending();
}

/** Interprets a payload by the device's profile and the tank's shape. */
export function interpretPayload(
  payload: string,
  device: Device | undefined,
  { tank, shape }: TankState,
): ReturnType<typeof interpret> {
  const choice = device?.profile ?? null;
  const profile = typeof choice === "string" ? profileNamed(choice) : choice;
  const { capacity, capacity_unit } = tank;
  return interpret(JSON.parse(payload), profile ?? null, { shape, capacity, capacity_unit });
}

function placedColumns(batch: IncomingBatch, placed: readonly Placed[]): Pick<Placement, "readings" | "positions"> {
  const tanks = new Map<string, number>();
  const tank = Uint32Array.from(placed, ({ tankId }) => {
    const index = tanks.get(tankId) ?? tanks.size;
    tanks.set(tankId, index);
    return index;
  });
  const positions = Uint32Array.from(placed, ({ position }) => position);
  return {
    readings: {
      tankIds: [...tanks.keys()],
      tank,
      createdAt: Float64Array.from(positions, (position) => batch.createdAt[position] as number),
      fill: Float64Array.from(placed, ({ fill }) => fill),
    },
    positions,
  };
}

/** The outcomes of the whole incoming batch, once its readings are stored. */
export function setStoreOutcomes({ positions, outcomes }: Placement, stored: Uint8Array): Uint8Array {
  stored.forEach((outcome, i) => {
    outcomes[positions[i] as number] = outcome;
  });
  return outcomes;
}

/** Pending readings as a batch, to be placed again after a change. */
export function batchOfPending(pending: readonly PendingReading[]): IncomingBatch {
  const sources: ReadingSource[] = [];
  const indexes = new Map<string, number>();
  const sourceOf = Uint32Array.from(pending, ({ device: id, customer_id: customerId }) => {
    const key = JSON.stringify([id, customerId]);
    const index = indexes.get(key) ?? sources.push({ kind: "device", id, customerId }) - 1;
    indexes.set(key, index);
    return index;
  });
  return {
    sources,
    sourceOf,
    createdAt: Float64Array.from(pending, ({ created_at }) => created_at),
    fill: Float64Array.from(pending, ({ fill }) => fill ?? Number.NaN),
    payloads: new Map(pending.flatMap(({ payload }, i) => (payload === null ? [] : [[i, payload]]))),
  };
}

/** A reading that is no longer pending: it was stored, or rejected. */
export type ResolvedReading = DeviceInstant & { readonly isRejected: boolean };

/** If not one reading of a device could be interpreted, its profile is taken to be wrong and all of them stay pending. */
export function resolvedReadings(pending: readonly PendingReading[], outcomes: Uint8Array): ResolvedReading[] {
  const isStored = (position: number): boolean =>
    outcomes[position] !== OUTCOME.pending && outcomes[position] !== OUTCOME.rejected;
  const interpreted = new Set(pending.filter((_, position) => isStored(position)).map(({ device }) => device));
  return pending.flatMap(({ device, created_at }, position) => {
    if (outcomes[position] === OUTCOME.pending || !interpreted.has(device)) return [];
    return [{ device, created_at, isRejected: outcomes[position] === OUTCOME.rejected }];
  });
}
