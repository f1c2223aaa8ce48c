// A store on PostgreSQL that a test makes trouble for: what it told is kept.

import { RequestError } from "../../../src/domain/errors.ts";
import type { Event } from "../../../src/domain/events.ts";
import type { Store } from "../../../src/domain/store.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Lifetime } from "../service.ts";

type Settings = NonNullable<Parameters<typeof openStore>[2]>;

export type Opened = {
  readonly store: Store;
  readonly events: Event[];
  /** The kinds of all events so far, sorted: reading and writing are lost and regained in no order. */
  readonly told: () => string[];
};

export async function openedOn(life: Lifetime, url: string, settings: Partial<Settings> = {}): Promise<Opened> {
  const events: Event[] = [];
  const whole = { connections: 10, replicaUrls: [], replicaLagMs: 2000, ...settings };
  const store = await openStore(url, (event) => events.push(event), whole);
  life.after(() => store.close());
  return { store, events, told: () => events.map(({ kind }) => kind).sort() };
}

export const isUnavailable = (error: unknown): boolean => error instanceof RequestError && error.code === "store_unavailable";

export function answers(asked: Promise<unknown>): Promise<boolean> {
  return asked.then(
    () => true,
    () => false,
  );
}
