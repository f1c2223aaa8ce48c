// Registers the customers, tanks and devices of a fleet through the managing interface, as an operator would. What is there
// from an earlier simulation is left as it is.

import { type Answer, type Caller, complaintOf } from "./call.ts";
import type { SeededFleet } from "./fleet.ts";
import { sensorOf } from "./makers.ts";

const AT_ONCE = 8;
const THRESHOLD = 20;

/** What a key is for is seen when it is used. */
export const mayManage = (call: Caller): Promise<boolean> => reaches(call, "/manage/v1/customers?size=1");
export const mayRead = (call: Caller): Promise<boolean> => reaches(call, "/v1/tanks?size=1");

async function reaches(call: Caller, path: string): Promise<boolean> {
  const answer = await call({ path });
  if (answer.status === 403) return false;
  if (answer.status !== 200) throw complaintOf(answer, "asking what the key may do");
  return true;
}

export async function provision(fleet: SeededFleet, call: Caller, told: (done: number) => void): Promise<void> {
  let done = 0;
  await each(fleet.customers, async (number) => {
    const { id, name, email } = fleet.customer(number);
    made(await post(call, "/manage/v1/customers", { id, name, email, is_verified: true }), `registering customer ${id}`);
  });
  await each(fleet.size, async (number) => {
    await registerTank(fleet, number, call);
    told(++done);
  });
}

async function registerTank(fleet: SeededFleet, number: number, call: Caller): Promise<void> {
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
  made(await post(call, "/manage/v1/tanks", tank), `registering tank ${tankId}`);
  const fields = { tank_id: tankId, profile: sensorOf(maker)?.profile ?? null, shape };
  const path = `/manage/v1/devices/${encodeURIComponent(id)}`;
  const answer = await call({ method: "PUT", path, text: JSON.stringify(fields) });
  if (answer.status !== 200) throw complaintOf(answer, `registering device ${id}`);
}

function post(call: Caller, path: string, fields: object): Promise<Answer> {
  return call({ method: "POST", path, text: JSON.stringify(fields) });
}

/** One that has the id already was made by an earlier simulation, or by an attempt whose answer was lost. */
function made(answer: Answer, doing: string): void {
  if (answer.status !== 201 && answer.body["code"] !== "id_taken") throw complaintOf(answer, doing);
}

/** From 0 up to the count, some at once. */
async function each(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
