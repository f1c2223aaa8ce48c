// What the service has stored, read through the interface or from an export.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Service, Workspace } from "../e2e/program.ts";
import { get, item, list } from "../e2e/requests.ts";
import { SOURCES, type Source } from "./fleet.ts";
import type { FillsBySource, Ledger } from "./ledger.ts";

/** Fails on an instant that occurs twice, which the ledger would not notice. */
function instantsOf(tankId: string, readings: readonly (readonly [instant: string, fill: number])[]): Map<number, number> {
  const fills = new Map(readings.map(([instant, fill]) => [Date.parse(instant), fill]));
  assert.equal(fills.size, readings.length, `${tankId} has an instant twice`);
  return fills;
}

/** A snapshot of the database, whether or not a service runs on it. */
export async function exported({ run, path }: Workspace): Promise<FillsBySource> {
  const { code, stderr } = await run(["export", "stored.csv", "--force"]);
  assert.equal(code, 0, stderr);
  const [header, ...rows] = readFileSync(path("stored.csv"), "utf8").trimEnd().split("\n");
  assert.equal(header, "tank_id,created_at,fill_percentage");
  const byTank = Map.groupBy(
    rows.map((row) => row.split(",")),
    ([tankId]) => tankId,
  );
  return new Map(
    SOURCES.map((source) => {
      const readings = byTank.get(source.tankId)?.map(([, at = "", fill]) => [at, Number(fill)] as const);
      return [source, instantsOf(source.tankId, readings ?? [])];
    }),
  );
}

/** While nobody sends, and all devices have a tank. */
export async function served(service: Service, key: string): Promise<FillsBySource> {
  const stored = new Map<Source, ReadonlyMap<number, number>>();
  for (const source of SOURCES) {
    const path = `/v1/tanks/${source.tankId}/telemetry?size=100`;
    const first = await list(service, path, key);
    const rest = Array.from({ length: Math.max(0, first.total_pages - 1) }, (_, i) =>
      list(service, `${path}&page=${i + 2}`, key),
    );
    const items = [first, ...(await Promise.all(rest))].flatMap(({ data }) => data);
    assert.equal(items.length, first.total_items, `${source.tankId} has as many readings as its total says`);
    const readings = items.map((reading) => [`${reading["created_at"]}`, Number(reading["fill_percentage"])] as const);
    stored.set(source, instantsOf(source.tankId, readings));
  }
  return stored;
}

/** How many readings a tank has, or how many of an unknown device are pending. */
export async function countOf(service: Service, key: string, { isKnown, tankId, deviceId }: Source): Promise<number> {
  if (isKnown) return (await list(service, `/v1/tanks/${tankId}/telemetry?size=1`, key)).total_items;
  const { status, text } = await get(service, `/manage/v1/devices/${deviceId}`, key);
  return status === 404 ? 0 : Number((JSON.parse(text) as { readonly pending: number }).pending);
}

/** Of unknown devices at least what was acknowledged is pending, at most what was sent, and nothing was dropped. Then each gets a tank. */
export async function assignUnknownDevices(service: Service, key: string, ledger: Ledger): Promise<void> {
  for (const source of SOURCES.filter(({ isKnown }) => !isKnown)) {
    const path = `/manage/v1/devices/${source.deviceId}`;
    const { acknowledged, sent } = ledger.counts(source);
    const count = await countOf(service, key, source);
    assert.ok(
      count >= acknowledged && count <= sent,
      `${source.deviceId}: ${count} pending; ${acknowledged} acknowledged of ${sent} sent`,
    );
    if (count > 0) assert.equal((await item(service, path, key))["dropped"], 0);
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const body = JSON.stringify({ tank_id: source.tankId });
    const response = await fetch(`${service.url}${path}`, { method: "PUT", headers, body });
    assert.equal(response.status, 200, await response.text());
  }
}
