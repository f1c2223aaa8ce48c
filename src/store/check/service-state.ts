// Checks the single values of the service. What the service would find out again is removed if it cannot be read.

import { sweepStateOf } from "../../domain/alerts/sweep.ts";
import { fleetOrderStateOf } from "../../domain/fleet-order.ts";
import { isUnsubscribeSecret } from "../../domain/unsubscribe.ts";
import { PUT_SERVICE_STATE } from "../core/service-state.ts";
import type { RunQuery } from "../core/sql-runner.ts";
import { type CheckResult, damagedRow, repairable } from "./inconsistency.ts";

type IsValid = (value: string) => boolean;

/** `lastEvent`: the largest sequence number of an event that is stored; 0 if there is none. */
type ServiceState = { readonly values: ReadonlyMap<string, string>; readonly lastEvent: number };

export function serviceStateOperations({ rows }: { readonly rows: RunQuery }) {
  return {
    async serviceState(): Promise<ServiceState> {
      const values = await rows("SELECT name, value FROM service_state");
      const [[last] = []] = await rows("SELECT coalesce(max(sequence), 0) FROM event"); // primary key
      return { values: new Map(values.map(([name, value]) => [String(name), String(value)])), lastEvent: Number(last) };
    },
    async putServiceState(name: string, value: string): Promise<void> {
      await rows(PUT_SERVICE_STATE, name, value);
    },
    async removeServiceState(name: string): Promise<void> {
      await rows("DELETE FROM service_state WHERE name = $1", name);
    },
  };
}

type ServiceStateOperations = ReturnType<typeof serviceStateOperations>;

const SEQUENCE = "event_sequence";
const REMOVABLE: Readonly<Record<string, { readonly where: string; readonly isValid: IsValid }>> = {
  sweep: { where: "state of the sweep of alerts", isValid: (value) => sweepStateOf(value) !== undefined },
  fleet_order: { where: "state of the fleet order", isValid: (value) => fleetOrderStateOf(value) !== undefined },
};
const isValidOrMissing = (value: string | undefined, isValid: IsValid): boolean => value === undefined || isValid(value);

/** A value that is missing was not needed yet; only events say that there was one. */
export async function checkServiceState(reads: ServiceStateOperations): Promise<CheckResult[]> {
  const { values, lastEvent } = await reads.serviceState();
  const secret = values.get("unsubscribe_secret");
  return [
    {
      where: "sequence numbers of events",
      found: isSequence(values, lastEvent) ? [] : repairable(sequenceError(values, lastEvent)),
    },
    ...Object.entries(REMOVABLE).map(([name, { where, isValid }]) => ({
      where,
      found: isValidOrMissing(values.get(name), isValid) ? [] : repairable("it cannot be read"),
    })),
    {
      where: "secret of unsubscribe links",
      found: damagedRow(isValidOrMissing(secret, isUnsubscribeSecret) ? undefined : "it cannot be read"),
    },
  ];
}

/** Events are numbered from the last number on. It may be larger than those that are stored: old events are removed. */
function isSequence(values: ServiceState["values"], lastEvent: number): boolean {
  const value = values.get(SEQUENCE) ?? "0";
  return /^\d{1,15}$/.test(value) && Number(value) >= lastEvent;
}

function sequenceError(values: ServiceState["values"], lastEvent: number): string {
  return `the last one should be at least ${lastEvent}, it is ${values.get(SEQUENCE) ?? "missing"}`;
}

/** The lock of alerts is held: nobody writes events. */
export async function repairServiceState(operations: ServiceStateOperations): Promise<void> {
  const { values, lastEvent } = await operations.serviceState();
  if (!isSequence(values, lastEvent)) await operations.putServiceState(SEQUENCE, String(lastEvent));
  for (const [name, { isValid }] of Object.entries(REMOVABLE)) {
    if (!isValidOrMissing(values.get(name), isValid)) await operations.removeServiceState(name);
  }
}
