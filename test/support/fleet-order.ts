// Updates the fleet order as the forecast job does. A tank that cannot be updated fails the test.

import type { FleetOrderReads, FleetOrderWrites } from "../../src/domain/fleet-order.ts";
import type { Instant } from "../../src/domain/instant.ts";
import { FailedTanks } from "../../src/forecast/failed-tanks.ts";
import { updateFleetOrder } from "../../src/forecast/fleet-order.ts";

export async function updateWholeOrder(store: FleetOrderReads & FleetOrderWrites, now: Instant): Promise<void> {
  const failed = new FailedTanks((event) => {
    throw new Error(event.kind, { cause: event });
  });
  await updateFleetOrder(store, now, { failed });
}
