// A decision that needs to know more as it goes: it asks, is answered by the store, and goes on, all within one transaction.
// Written as a generator, so that one text serves engines that answer at once and engines that are waited for.

import type { TankWithShape } from "./changes.ts";
import type { Device, DeviceAssignment } from "./device.ts";
import { isPossibleId } from "./id.ts";
import type { StoredKey } from "./key.ts";
import type { ManagedCustomer } from "./resource.ts";

/** What may be asked for, by ids; what is not known is not in the answer. */
export type Answers = {
  readonly customers: ReadonlyMap<string, ManagedCustomer>;
  readonly tanks: ReadonlyMap<string, TankWithShape>;
  /** The live tanks of these owners. */
  readonly tanksOfOwners: readonly TankWithShape[];
  /** The tanks that were deleted together with these customers. */
  readonly tanksDeletedWith: readonly TankWithShape[];
  readonly devices: ReadonlyMap<string, Device>;
  /** Of these devices, in order. */
  readonly services: readonly DeviceAssignment[];
  /** How many readings of each of these devices wait. */
  readonly waiting: ReadonlyMap<string, number>;
  /** How many of each had to go since more could not wait. */
  readonly dropped: ReadonlyMap<string, number>;
  readonly keys: ReadonlyMap<string, StoredKey>;
};

type Asked = { readonly kind: keyof Answers; readonly ids: readonly string[] };
export type Inquiry<T> = Generator<Asked, T, unknown>;

/** What cannot be an id is not known, and no engine is bothered with it. */
export function* ask<K extends keyof Answers>(kind: K, ids: Iterable<string>): Inquiry<Answers[K]> {
  return (yield { kind, ids: [...new Set(ids)].filter(isPossibleId) }) as Answers[K];
}

/** One object, where it is known. */
export function* askFor<K extends "customers" | "tanks" | "devices" | "keys">(kind: K, id: string): Inquiry<One<K> | undefined> {
  const found = (yield* ask(kind, [id])) as ReadonlyMap<string, One<K>>;
  return found.get(id);
}
type One<K extends keyof Answers> = Answers[K] extends ReadonlyMap<string, infer T> ? T : never;

/** Answers for an engine that knows at once. */
export type Answering = { readonly [K in keyof Answers]: (ids: readonly string[]) => Answers[K] };

export function settle<T>(inquiry: Inquiry<T>, answers: Answering): T {
  let step = inquiry.next();
  while (step.done !== true) step = inquiry.next(answers[step.value.kind](step.value.ids));
  return step.value;
}

/** Answers for an engine that is waited for. */
export type AnsweringLater = { readonly [K in keyof Answers]: (ids: readonly string[]) => Promise<Answers[K]> };

export async function settleLater<T>(inquiry: Inquiry<T>, answers: AnsweringLater): Promise<T> {
  let step = inquiry.next();
  while (step.done !== true) step = inquiry.next(await answers[step.value.kind](step.value.ids));
  return step.value;
}
