// Manage: what an operator has done, whichever door it came through. The rules are the domain's, and the store carries them
// out; here they are handed over, and refusals thrown. May not: know HTTP, or an engine.

import { Refusal } from "../domain/errors.ts";
import type { Clock } from "../domain/instant.ts";
import type { Shown } from "../domain/managed.ts";
import { isRefused, type Once, type Order } from "../domain/orders/order.ts";
import type { Writes } from "../domain/store.ts";

export type Done = { readonly shown: Shown; readonly replayed: boolean };

export async function carryOut(
  writes: Pick<Writes, "carryOut">,
  clock: Clock,
  order: Order,
  by: string,
  once?: Once,
): Promise<Done> {
  const carried = await writes.carryOut(order, { by, at: clock() }, once);
  if (!isRefused(carried)) return carried;
  throw new Refusal(carried.refused, carried.detail, carried.errors === undefined ? {} : { errors: carried.errors });
}
