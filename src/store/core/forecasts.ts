// Stores computed forecasts with the refills found on the way, moves their tanks in the fleet order, reports new refills, and
// evaluates the alerts that follow from forecasts.

import { isDeepStrictEqual } from "node:util";
import { wants } from "../../domain/alerts/channel.ts";
import { ON_FORECAST } from "../../domain/alerts/evaluate.ts";
import { refillEventObject } from "../../domain/alerts/event.ts";
import { isProvisional } from "../../domain/alerts/forecast-conditions.ts";
import { mayBeOutdated } from "../../domain/alerts/sweep.ts";
import { FORECAST_MIN_AGE_MS } from "../../domain/fleet-order.ts";
import { newRefills, type Refill } from "../../domain/forecast/refills.ts";
import type { ComputedForecast } from "../../domain/forecast/stored.ts";
import { DAY, EARLIEST, type Instant } from "../../domain/instant.ts";
import type { TankWithOwner } from "./alert-tables.ts";
import { scheduleEvaluation, tanksWithAlertChanges } from "./alerts.ts";
import { lockForEvents, toChannels } from "./events.ts";
import { writeSortKeys } from "./fleet-order.ts";
import type { FleetTank } from "./forecast-tables.ts";
import { lastSweep } from "./sweep.ts";
import type { StoreTransaction } from "./transaction.ts";

/**
 * What ended longer before the last reading of the previous forecast, or before the first forecast, is history, such as that of an
 * import: a refill is found within this time.
 */
const REFILL_FOUND_WITHIN_MS = 3 * DAY;

/** All that follows from a forecast happens here, in one transaction. */
export async function storeForecasts(tx: StoreTransaction, computed: readonly ComputedForecast[], at: Instant): Promise<void> {
  await tx.lockLists();
  const byTank = new Map(computed.map((one) => [one.tankId, one]));
  const tanks = (await tx.fleetTanks([...byTank.keys()])).filter(
    ({ threshold, stored }) => threshold !== null && stored !== undefined,
  );
  const known = await tx.refillsOf(tanks.map(({ id }) => id));
  const sweep = await lastSweep(tx);
  const isOutdated = (latestAt: Instant): boolean => mayBeOutdated(latestAt, sweep, at, tx.alertSettings);
  await writeSortKeys(tx, tanks, (tank) => computedForecast(tank, byTank.get(tank.id), known.get(tank.id) ?? [], isOutdated, at));
  await scheduleAlertChanges(tx, tanks, at);
  await writeRefills(tx, tanks, byTank, known, at);
}

/** Heads are locked before alerts, as in all transactions. */
async function scheduleAlertChanges(tx: StoreTransaction, tanks: readonly FleetTank[], at: Instant): Promise<void> {
  const alerted = await tanksWithAlertChanges(
    tx,
    tanks.map(({ id }) => id),
    at,
  );
  if (alerted.length > 0) await scheduleEvaluation(tx, alerted, ON_FORECAST, at);
}

/** Readings that came meanwhile, and changes of the tank, are left to the next forecast. */
function computedForecast(
  { settings, latest, stored }: FleetTank,
  computed: ComputedForecast | undefined,
  known: readonly Refill[],
  isOutdated: (latestAt: Instant) => boolean,
  at: Instant,
) {
  const knowsTank = isDeepStrictEqual(computed?.settings, settings);
  const knowsReading = computed?.latestAt === latest?.created_at && computed?.latestFill === latest?.fill_percentage;
  const refillsUntil = announcedUntil(stored, [...known, ...(computed?.refills ?? [])]);
  const knownAt = stored?.forecast?.based_on_until ?? null;
  const isProvisionalNow =
    computed !== undefined && (isProvisional(knownAt, computed.latestAt, at) || isOutdated(computed.latestAt));
  const forecast =
    computed === undefined ? null : { ...computed.forecast, refillsUntil, isProvisional: isProvisionalNow || undefined };
  const dueAt = knowsReading ? null : at + FORECAST_MIN_AGE_MS;
  return { dueAt: knowsTank ? dueAt : at, computedAt: at, forecast };
}

/** Never lowered: a refill that was not found for a while is not announced again. */
function announcedUntil(stored: FleetTank["stored"], refills: readonly Refill[]): Instant | undefined {
  const until = Math.max(...refills.map(({ endedAt }) => endedAt), stored?.forecast?.refillsUntil ?? EARLIEST);
  return until > EARLIEST ? until : undefined;
}

async function writeRefills(
  tx: StoreTransaction,
  tanks: readonly FleetTank[],
  computed: ReadonlyMap<string, ComputedForecast>,
  known: ReadonlyMap<string, readonly Refill[]>,
  at: Instant,
): Promise<void> {
  const found = tanks.flatMap(({ id, stored }) => {
    const refills = computed.get(id)?.refills ?? null;
    return refills === null ? [] : [{ tankId: id, refills, stored }];
  });
  const changed = found.filter(({ tankId, refills }) => !hasSame(known.get(tankId) ?? [], refills));
  if (changed.length === 0) return;
  await tx.removeRefills(changed.map(({ tankId }) => tankId));
  await tx.addRefills(changed.flatMap(({ tankId, refills }) => refills.map((refill) => ({ tankId, ...refill }))));
  const toAnnounce = changed.flatMap(({ tankId, refills, stored }) => {
    const announced = announcedUntil(stored, known.get(tankId) ?? []) ?? EARLIEST;
    const knownUntil = stored?.forecast?.based_on_until ?? at;
    return newRefills(refills, announced, at)
      .filter(({ endedAt }) => endedAt > knownUntil - REFILL_FOUND_WITHIN_MS)
      .map((refill) => ({ tankId, refill }));
  });
  await reportRefills(tx, toAnnounce, at);
}

type NewRefill = { readonly tankId: string; readonly refill: Refill };

/** Adds events to the feed, and notifications to channels. */
async function reportRefills(tx: StoreTransaction, refills: readonly NewRefill[], at: Instant): Promise<void> {
  if (refills.length === 0) return;
  const { owners, channels, nextSequence } = await lockForEvents(
    tx,
    refills.map(({ tankId }) => tankId),
  );
  const events = refills.map(({ tankId, refill }, i) => {
    const { tank, customer } = owners.get(tankId) as TankWithOwner;
    const sequence = nextSequence + i;
    const payload = JSON.stringify(refillEventObject({ at, refill, tank, customer }, sequence));
    return { sequence, at, owner_id: tank.owner_id, tank_id: tankId, payload };
  });
  const outgoing = events.map(({ sequence, owner_id, tank_id, payload }) => {
    const subscribed = channels.filter((channel) => wants(channel, "tank.refilled", null, owner_id));
    return toChannels({ event: "tank.refilled", alert_id: null, tank_id, owner_id, sequence, payload }, subscribed, at);
  });
  const notifications = outgoing.flatMap((one) => one.notifications);
  await tx.addEvents(events);
  await tx.addNotifications(notifications);
  await tx.deferNotifications(outgoing.flatMap(({ deferred }) => deferred));
  tx.alertWork.addDueNotifications(notifications.length);
}

function hasSame(before: readonly Refill[], after: readonly Refill[]): boolean {
  const texts = (refills: readonly Refill[]): string =>
    JSON.stringify(refills.map(({ startedAt, endedAt, from, to }) => [startedAt, endedAt, from, to]).sort());
  return before.length === after.length && texts(before) === texts(after);
}
