// What routes set in motion, wired: the functions of `ingest` and `manage` on one store. Shared by the service and by the
// command line, which goes the same ways without the network.

import type { Clock } from "./domain/instant.ts";
import type { Store } from "./domain/store.ts";
import type { Doors } from "./http/doors.ts";
import { accepting } from "./ingest/accept.ts";
import type { Accept } from "./ingest/arrival.ts";
import { httpDoors } from "./ingest/http.ts";
import { manageDoor } from "./manage/door.ts";

export function doorsOf(store: Store, clock: Clock, accept: Accept = accepting(store, clock)): Doors {
  return { ingest: httpDoors(accept, clock), manage: manageDoor(store, clock) };
}
