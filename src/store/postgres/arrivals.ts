// The way of readings that arrive: each goes to the tank that had its device then, or waits, or is rejected; what waited is
// taken in when what it waited for is known.
//
// Everyone locks in this order: the lists, the devices, heads by tank, devices' rows by id.

import { ReleasedReadings } from "../../domain/commands/released.ts";
import { settleLater } from "../../domain/inquiry.ts";
import {
  batchOfPending,
  type PendingReading,
  type Placement,
  placeReadings,
  type ResolvedReading,
  resolvedReadings,
  withStoreOutcomes,
} from "../../domain/placement.ts";
import type { IncomingBatch, IngestResult } from "../../domain/reading.ts";
import { MAX_PENDING } from "../../domain/store.ts";
import { WAITING_COLUMNS, waitingOf } from "../columns.ts";
import { takeReadings } from "./acceptance.ts";
import { answersOn } from "./answers.ts";
import { type Db, statement, type Transaction } from "./connection.ts";
import { shareDevices } from "./devices.ts";

/** Whatever they are. `isHolding`: heads of other tanks are held already. */
export async function ingest(db: Transaction, batch: IncomingBatch, isHolding = false): Promise<IngestResult> {
  const placement = await placeIncoming(db, batch);
  const stored = await takeReadings(db, placement.readings, isHolding);
  const overtaken = placement.superseded.map((moment) => ({ ...moment, isRejected: false }));
  if (overtaken.length > 0) await stopWaiting(db, overtaken);
  if (placement.pending.length > 0) await putToWait(db, placement.pending);
  return { outcomes: withStoreOutcomes(placement, stored), reasons: placement.reasons };
}

export async function placeIncoming(db: Db, batch: IncomingBatch): Promise<Placement> {
  // What is asked is sent behind the lock, hence asked under it.
  const shared = batch.sources.some(({ kind }) => kind === "device") ? shareDevices(db) : undefined;
  return (await Promise.all([settleLater(placeReadings(batch), answersOn(db)), shared]))[0];
}

/** Makes the devices that are strange, and locks all: in the order they are given in. */
const MEET = statement(`
  INSERT INTO device (id) SELECT unnest($1::text[]) ON CONFLICT (id) DO UPDATE SET waiting = device.waiting`);
const WAIT = statement(`
  INSERT INTO waiting (${WAITING_COLUMNS}) SELECT * FROM unnest($1::text[], $2::bigint[], $3::double precision[], $4::text[], $5::text[])
  ON CONFLICT (device, created_at) DO UPDATE
  SET fill = excluded.fill, payload = excluded.payload, customer_id = excluded.customer_id`);

/** $1 devices, $2 how many readings of each were lost besides. The newest stay; all by primary keys. */
const SETTLE = statement(`
  WITH kept AS MATERIALIZED (
    SELECT asked.id, asked.lost, own.total FROM unnest($1::text[], $2::bigint[]) AS asked (id, lost)
    CROSS JOIN LATERAL (SELECT count(*) AS total FROM waiting WHERE device = asked.id) AS own
  ), gone AS (
    DELETE FROM waiting WHERE ctid = ANY (ARRAY(
      SELECT own.ctid FROM kept CROSS JOIN LATERAL (
        SELECT ctid FROM waiting WHERE device = kept.id ORDER BY created_at DESC OFFSET ${MAX_PENDING}
      ) AS own WHERE kept.total > ${MAX_PENDING}
    ))
  )
  INSERT INTO device (id, waiting, dropped)
  SELECT id, least(total, ${MAX_PENDING}), lost + greatest(0, total - ${MAX_PENDING}) FROM kept
  ON CONFLICT (id) DO UPDATE SET waiting = excluded.waiting, dropped = device.dropped + excluded.dropped`);

/** Of one device and instant, the last to arrive stays. */
async function putToWait(db: Db, waiting: readonly PendingReading[]): Promise<void> {
  const last = [...new Map(waiting.map((one) => [`${one.created_at} ${one.device}`, one])).values()];
  const devices = [...new Set(last.map(({ device }) => device))].sort();
  await db.rows(MEET, [devices]);
  await db.rows(WAIT, [
    last.map(({ device }) => device),
    last.map(({ created_at }) => created_at),
    last.map(({ fill }) => fill),
    last.map(({ payload }) => payload),
    last.map(({ customer_id }) => customer_id),
  ]);
  await db.rows(SETTLE, [devices, devices.map(() => 0)]);
}

const SOME_WAIT = statement("SELECT id, waiting FROM device WHERE id = ANY ($1::text[]) AND waiting > 0 ORDER BY id");
const OF_DEVICES = statement(`
  SELECT ${WAITING_COLUMNS} FROM waiting WHERE device = ANY ($1::text[]) ORDER BY device, created_at`);
const TAKE_AWAY = statement(`
  DELETE FROM waiting WHERE ctid = ANY (ARRAY(
    SELECT own.ctid FROM unnest($1::text[], $2::bigint[]) AS done (device, created_at)
    CROSS JOIN LATERAL (SELECT ctid FROM waiting WHERE device = done.device AND created_at = done.created_at OFFSET 0) AS own
  ))`);

/** Takes in what waits of these devices, as far as it can be now; what one device may have at a time. Under the exclusive lock. */
export async function drain(db: Transaction, devices: readonly string[]): Promise<ReleasedReadings> {
  const taken = new ReleasedReadings();
  if (devices.length === 0) return taken;
  let step: string[] = [];
  let readings = 0;
  for (const [id, waiting] of await db.rows(SOME_WAIT, [devices])) {
    if (readings + Number(waiting) > MAX_PENDING) {
      await drainSome(db, step, taken);
      step = [];
      readings = 0;
    }
    step.push(String(id));
    readings += Number(waiting);
  }
  await drainSome(db, step, taken);
  return taken;
}

async function drainSome(db: Transaction, devices: readonly string[], taken: ReleasedReadings): Promise<void> {
  if (devices.length === 0) return;
  const waiting = (await db.rows(OF_DEVICES, [devices])).map(waitingOf);
  const placement = await settleLater(placeReadings(batchOfPending(waiting)), answersOn(db));
  const outcomes = withStoreOutcomes(placement, await takeReadings(db, placement.readings));
  const ended = resolvedReadings(waiting, outcomes);
  if (ended.length > 0) await stopWaiting(db, ended);
  for (const { created_at, isRejected } of ended) taken.add(created_at, isRejected);
}

/** The devices are locked by id. */
async function stopWaiting(db: Db, ended: readonly ResolvedReading[]): Promise<void> {
  const lost = new Map(ended.map(({ device }) => [device, 0]));
  for (const { device, isRejected } of ended) if (isRejected) lost.set(device, (lost.get(device) ?? 0) + 1);
  const devices = [...lost.keys()].sort();
  await db.rows(MEET, [devices]);
  await db.rows(TAKE_AWAY, [ended.map(({ device }) => device), ended.map(({ created_at }) => created_at)]);
  await db.rows(SETTLE, [devices, devices.map((device) => lost.get(device) ?? 0)]);
}

/** Those of which something waits that may be of one of these tanks. By device_waiting. */
const OF_TANKS = statement(`
  SELECT id FROM device WHERE waiting > 0 AND (
    tank = ANY ($1::text[]) OR EXISTS (SELECT FROM service WHERE service.device = device.id AND service.tank = ANY ($1::text[]))
  )`);

export async function waitingOfTanks(db: Db, tanks: readonly string[]): Promise<string[]> {
  return tanks.length === 0 ? [] : (await db.rows(OF_TANKS, [tanks])).map(([id]) => String(id));
}
