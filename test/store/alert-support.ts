// Tanks with alerts, on a store.

import assert from "node:assert/strict";
import type { Alert } from "../../src/domain/alerts/alert.ts";
import type { AlertQuery } from "../../src/domain/alerts/reads.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { ingest } from "../support/readings.ts";
import { ALL_ALERTS, customer, putCustomers, putTanks, tank } from "./conformance/objects.ts";

export const alertsOf = (store: Store, query: Partial<AlertQuery> = {}, scope = UNRESTRICTED) =>
  store.alertPage({ ...ALL_ALERTS, ...query }, scope);

/** Customers `a` and `b`, each with these tanks, whose threshold is 20. */
export async function putFleet(store: Store, tanks: Readonly<Record<"a" | "b", readonly string[]>>): Promise<void> {
  const verified = { verified_at: 1 };
  await putCustomers(store, customer("a", verified), customer("b", verified));
  for (const owner of ["a", "b"] as const) await putTanks(store, ...tanks[owner].map((id) => tank(id, owner)));
}

/** A reading that is measured now. */
export const measure = (store: Store, tankId: string, fill: number, at = Date.now()) => ingest(store, { tank: tankId, fill, at });

/** Makes the tank low; returns its alert. */
export async function openAlert(store: Store, tankId: string, at = Date.now()): Promise<Alert> {
  await measure(store, tankId, 10, at);
  const alert = (await store.unclosedAlerts([tankId])).find(({ kind }) => kind === "low");
  assert.ok(alert !== undefined, `${tankId} has no alert`);
  return alert;
}
