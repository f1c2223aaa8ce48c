// What routes set in motion, wired: the functions of `ingest` and `manage` on one store. Shared by the service and by the
// command line, which goes the same ways without the network.

import type { Clock } from "./domain/instant.ts";
import type { Store } from "./domain/store.ts";
import type { Doors } from "./http/doors.ts";
import { createHttpIngest } from "./ingest/http.ts";
import type { Ingest } from "./ingest/ingest.ts";
import { createIngest } from "./ingest/ingest.ts";
import { manageDoor } from "./manage/door.ts";

export function doorsOf(store: Store, clock: Clock, accept: Ingest = createIngest(store, clock)): Doors {
  return { ingest: createHttpIngest(accept, clock), manage: manageDoor(store, clock) };
}
