// Registers the customers, tanks and devices of a fleet through the management endpoints. What an earlier simulation has
// registered stays as it is.

import type { SeededFleet } from "./fleet.ts";
import { forEachConcurrently, type HttpClient, type HttpResponse, unexpectedResponse } from "./http.ts";
import { sensorOf } from "./sensors.ts";

const THRESHOLD = 20;

/** A key does not tell its role; it is tried. */
export const canManage = (send: HttpClient): Promise<boolean> => isAllowed(send, "/manage/v1/customers?size=1");
export const canRead = (send: HttpClient): Promise<boolean> => isAllowed(send, "/v1/tanks?size=1");

async function isAllowed(send: HttpClient, path: string): Promise<boolean> {
  const response = await send({ path });
  if (response.status === 403) return false;
  if (response.status !== 200) throw unexpectedResponse(response, "checking the key");
  return true;
}

export async function registerFleet(fleet: SeededFleet, send: HttpClient, onProgress: (tanks: number) => void): Promise<void> {
  let done = 0;
  await forEachConcurrently(Array(fleet.customers).keys(), async (number) => {
    const { id, name, email } = fleet.customer(number);
    const response = await post(send, "/manage/v1/customers", { id, name, email, is_verified: true });
    assertExists(response, `registering customer ${id}`);
  });
  await forEachConcurrently(Array(fleet.size).keys(), async (number) => {
    await registerTank(fleet, number, send);
    onProgress(++done);
  });
}

async function registerTank(fleet: SeededFleet, number: number, send: HttpClient): Promise<void> {
  const { id, tankId, maker, shape } = fleet.device(number);
  const tank = {
    id: tankId,
    name: `Simulated tank ${number + 1}`,
    owner_id: fleet.owner(number),
    assigned_device_id: id,
    capacity: fleet.capacity(number),
    capacity_unit: "liters",
    min_fill_alert_percentage: THRESHOLD,
  };
  assertExists(await post(send, "/manage/v1/tanks", tank), `registering tank ${tankId}`);
  const fields = { tank_id: tankId, profile: sensorOf(maker)?.profile ?? null, shape };
  const path = `/manage/v1/devices/${encodeURIComponent(id)}`;
  const response = await send({ method: "PUT", path, json: JSON.stringify(fields) });
  if (response.status !== 200) throw unexpectedResponse(response, `registering device ${id}`);
}

function post(send: HttpClient, path: string, fields: object): Promise<HttpResponse> {
  return send({ method: "POST", path, json: JSON.stringify(fields) });
}

/** The id is taken after an earlier simulation, or after an attempt whose response was lost. */
function assertExists(response: HttpResponse, doing: string): void {
  if (response.status !== 201 && response.body["code"] !== "id_taken") throw unexpectedResponse(response, doing);
}
