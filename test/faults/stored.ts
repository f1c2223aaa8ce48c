// What the service has stored, read through the interface or from an export.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Service, Workspace } from "../e2e/program.ts";
import { get, item, list } from "../e2e/requests.ts";
import { KNOWN, type Source, spareFor, UNKNOWN } from "./fleet.ts";
import type { Ledger, StoredReadings } from "./ledger.ts";

const PAGE = 100;

/** A snapshot of the database, whether or not a service runs on it. */
export async function exported({ run, path }: Pick<Workspace, "run" | "path">): Promise<StoredReadings> {
  const name = "stored.csv";
  const { code, stderr } = await run(["export", name, "--force"]);
  assert.equal(code, 0, stderr);
  const [header, ...rows] = readFileSync(path(name), "utf8").trimEnd().split("\n");
  assert.equal(header, "tank_id,created_at,fill_percentage");
  const stored = new Map<string, Map<number, number>>();
  for (const row of rows) {
    const [tankId = "", at = "", fill = ""] = row.split(",");
    add(stored, tankId, Date.parse(at), Number(fill));
  }
  return stored;
}

/** While nobody sends. Readings of unknown devices are read from the tanks they were assigned to. */
export async function served(service: Service, key: string): Promise<StoredReadings> {
  const stored = new Map<string, Map<number, number>>();
  for (const { place } of KNOWN) await readAll(stored, service, key, place, place);
  for (const { place } of UNKNOWN) await readAll(stored, service, key, spareFor(place), place);
  return stored;
}

async function readAll(
  stored: Map<string, Map<number, number>>,
  service: Service,
  key: string,
  tankId: string,
  place: string,
): Promise<void> {
  const path = `/v1/tanks/${encodeURIComponent(tankId)}/telemetry?size=${PAGE}`;
  const first = await list(service, path, key);
  const rest = Array.from({ length: Math.max(0, first.total_pages - 1) }, (_, i) => i + 2);
  const pages = [first, ...(await Promise.all(rest.map((page) => list(service, `${path}&page=${page}`, key))))];
  const items = pages.flatMap(({ data }) => data);
  assert.equal(items.length, first.total_items, `${tankId} has as many readings as its total says`);
  for (const { created_at, fill_percentage } of items) {
    add(stored, place, Date.parse(String(created_at)), Number(fill_percentage));
  }
}

/** Fails on an instant that occurs twice, which the ledger would not see. */
function add(stored: Map<string, Map<number, number>>, place: string, at: number, fill: number): void {
  const here = stored.get(place) ?? new Map<number, number>();
  stored.set(place, here);
  assert.ok(!here.has(at), `${place} has ${new Date(at).toISOString()} twice`);
  here.set(at, fill);
}

/** How many readings a tank has, or how many of an unknown device are pending. */
export async function countOf(service: Service, key: string, { tankId, deviceId }: Source): Promise<number> {
  if (tankId !== undefined) return (await list(service, `/v1/tanks/${tankId}/telemetry?size=1`, key)).total_items;
  const { status, text } = await get(service, `/manage/v1/devices/${deviceId}`, key);
  return status === 404 ? 0 : Number((JSON.parse(text) as { readonly waiting: number }).waiting);
}

/** At least what was acknowledged is pending, at most what was sent, and nothing was dropped. */
export async function expectPending(service: Service, key: string, ledger: Ledger): Promise<void> {
  for (const source of UNKNOWN) {
    const { place, deviceId } = source;
    const { acknowledged, sent } = ledger.counts(place);
    const count = await countOf(service, key, source);
    assert.ok(count >= acknowledged && count <= sent, `${place}: ${count} wait; ${acknowledged} acknowledged of ${sent} sent`);
    if (count > 0) assert.equal((await item(service, `/manage/v1/devices/${deviceId}`, key))["dropped"], 0);
  }
}

/** Each unknown device gets a tank, which receives its pending readings. */
export async function assignUnknownDevices({ url }: Service, key: string): Promise<void> {
  for (const { place, deviceId } of UNKNOWN) {
    const response = await fetch(`${url}/manage/v1/devices/${deviceId}`, {
      method: "PUT",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ tank_id: spareFor(place) }),
    });
    assert.equal(response.status, 200, await response.text());
  }
}
