// Lists that change while they are read.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createClient } from "../../client/src/index.ts";
import { pages } from "../../src/cli/list.ts";
import { sendToService } from "../../src/cli/remote.ts";
import { type Service as ApiService, FLEET, itemIn } from "../../src/cli/service.ts";
import { startService } from "../support/service.ts";

test("a tank that becomes urgent while the fleet is read is printed once, and so are the others", async () => {
  const service = await startService({ after });
  const key = await service.key({ role: "manage" });
  const api = createClient({ baseUrl: service.url, key });
  const ids = Array.from({ length: 250 }, (_, i) => `t${String(i).padStart(3, "0")}`);
  await api.manage.provision({
    customers: [{ id: "c", name: "Brenner Gas GmbH", email: "office@brenner-gas.example" }],
    tanks: ids.map((id) => ({
      ...{ id, owner_id: "c", name: id, capacity: 2700, capacity_unit: "liters" as const },
      ...{ min_fill_alert_percentage: 20, assigned_device_id: id },
    })),
  });
  const created_at = new Date(Date.now() - 3_600_000).toISOString();
  await api.ingest.readings(ids.map((tank_id, i) => ({ tank_id, created_at, fill_percentage: 30 + i / 10 })));
  await service.store.updateSortKeys(ids, Date.now());
  const send = sendToService(service.url, key);
  const call: ApiService = async (request) => itemIn(await send(request));
  const printed: unknown[] = [];
  for await (const page of pages(call, {}, { path: FLEET })) {
    if (printed.length === 0) {
      await api.ingest.readings({ tank_id: "t240", fill_percentage: 5 });
      await service.store.updateSortKeys(["t240"], Date.now());
    }
    printed.push(...page.map(({ tank }) => (tank as { id: string }).id));
  }
  assert.deepEqual(printed.toSorted(), ids);
});
