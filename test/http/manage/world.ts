// A service with a customer and a tank, made through the door for operators.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { heldClock } from "../../support/clock.ts";
import { type Service, startService } from "../../support/service.ts";
import { type Answered, type Ask, asking } from "../asked.ts";

export type World = Service & {
  readonly ask: Ask;
  readonly forward: (milliseconds: number) => number;
  readonly keyId: string;
};

export const CUSTOMER = { id: "c1", name: "Brenner Gas GmbH", email: "office@brenner-gas.example" };
export const TANK = {
  id: "t1",
  owner_id: "c1",
  name: "Hall 3",
  capacity: 2700,
  capacity_unit: "liters",
  min_fill_alert_percentage: 20,
  assigned_device_id: "d1",
};

export async function emptyWorld(t: TestContext): Promise<World> {
  const held = heldClock();
  const service = await startService(t, { clock: held.clock });
  const ask = asking(service, await service.key({ role: "manage", name: "office" }));
  const [key] = await service.store.keyList();
  return { ...service, ask, forward: held.forward, keyId: key?.id ?? "" };
}

export async function world(t: TestContext): Promise<World> {
  const here = await emptyWorld(t);
  expect(await here.ask("POST", "/manage/v1/customers", CUSTOMER), 201);
  expect(await here.ask("POST", "/manage/v1/tanks", TANK), 201);
  return here;
}

/** The body of an answer with this status. */
export function expect(answer: Answered, status: number, code?: string): Record<string, unknown> {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  if (code !== undefined) assert.equal(answer.body["code"], code);
  return answer.body;
}

/** `field message` of each fault. */
export function faults({ body }: Answered): string[] {
  return (body["errors"] as { field: string; message: string }[]).map(({ field, message }) => `${field} ${message}`);
}

export const idsIn = ({ body }: Answered): unknown[] => (body["data"] as { id: unknown }[]).map(({ id }) => id);
