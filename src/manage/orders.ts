// Manage: what an operator has done, whichever door it came through. The rules are the domain's, and the store carries them
// out; here they are handed over, and refusals thrown. May not: know HTTP, or an engine.

import { type Command, type IdempotencyKey, isCommandError } from "../domain/commands/command.ts";
import { RequestError } from "../domain/errors.ts";
import type { Clock } from "../domain/instant.ts";
import type { Resource } from "../domain/resource.ts";
import type { Writes } from "../domain/store.ts";

export type Done = { readonly resource: Resource; readonly replayed: boolean };

export async function carryOut(
  writes: Pick<Writes, "execute">,
  clock: Clock,
  order: Command,
  by: string,
  once?: IdempotencyKey,
): Promise<Done> {
  const carried = await writes.execute(order, { by, at: clock() }, once);
  if (!isCommandError(carried)) return carried;
  throw new RequestError(carried.error, carried.detail, carried.errors === undefined ? {} : { errors: carried.errors });
}
