// A small fleet behind a running service: two customers and a deleted one, live and deleted tanks, readings.

import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { type Lifetime, type Service, startService } from "../support/service.ts";

export const BRENNER = "cus_brenner";
export const MOSER = "cus_moser";
export const GONE = "cus_gone";

export const HALL_READINGS = 25;
const HOUR = 3_600_000;
/** The newest reading of the hall's tank. */
export const NEWEST = Date.parse("2026-11-14T08:00:00.000Z");

export type Fleet = Service & {
  /** Secrets: the operator's key sees everything, the others one customer each. */
  readonly operator: string;
  readonly brenner: string;
  readonly moser: string;
};

export async function startFleet(life: Lifetime, options: Parameters<typeof startService>[1] = {}): Promise<Fleet> {
  const service = await startService(life, options);
  await service.store.importCustomers([
    customerRecord(BRENNER, {
      created_at: "2025-03-02T08:15:30.123Z",
      email: "office@brenner-gas.example",
      last_seen_at: "2026-11-14T09:30:00Z",
      name: "Brenner Gas GmbH",
      phone: "+49 30 5550 0142",
      updated_at: "2025-06-11T14:02:11.25Z",
      verified_at: "2025-03-02T08:40:02Z",
    }),
    customerRecord(MOSER, { created_at: "2025-05-01T00:00:00Z" }),
    customerRecord(GONE, { created_at: "2025-04-01T00:00:00Z", deleted: true }),
  ]);
  await service.store.importTanks([
    tankRecord("tank_hall", BRENNER, {
      assigned_device_id: "a84041c2f1827d3e",
      capacity: 2700.5,
      created_at: "2025-03-04T10:00:00Z",
      custom_id: "HALL-3",
      location: {
        city: "Freiburg",
        country: "Germany",
        district: "Wiehre",
        latitude: 47.9883,
        longitude: 7.8567,
        postal_code: "79100",
        region: "Baden-Württemberg",
        street: "Lindenweg",
        street_number: "12a",
      },
      name: "Hall 3, north side",
      updated_at: "2026-02-19T07:45:00Z",
      use_case: "commercial",
    }),
    tankRecord("tank_yard", BRENNER, { created_at: "2025-03-05T10:00:00Z", capacity_unit: "gallons" }),
    tankRecord("tank_mill", MOSER, { created_at: "2025-05-02T00:00:00Z" }),
    tankRecord("tank_scrapped", BRENNER, { created_at: "2025-03-06T10:00:00Z", deleted: true }),
    tankRecord("tank_sold", MOSER, { created_at: "2025-05-03T00:00:00Z", deleted: true }),
  ]);
  const hourly = Array.from({ length: HALL_READINGS }, (_, i) => [NEWEST - i * HOUR, 60 + i / 10] as const);
  await putReadings(service.store, "tank_hall", hourly);
  await putReadings(service.store, "tank_mill", hourly.slice(0, 3));
  await putReadings(service.store, "tank_scrapped", hourly.slice(0, 2));
  return {
    ...service,
    operator: await service.key(),
    brenner: await service.key({ customerId: BRENNER }),
    moser: await service.key({ customerId: MOSER }),
  };
}

export type Endpoint = {
  readonly name: string;
  readonly operation: string;
  /** A path that answers 200. */
  readonly path: string;
  readonly isList: boolean;
  /** A path whose object does not exist, and the code that says so. */
  readonly unknown?: { readonly path: string; readonly code: "customer_unknown" | "tank_unknown" };
};

export const ENDPOINTS: readonly Endpoint[] = [
  { name: "List customers", operation: "listCustomers", path: "/v1/customers", isList: true },
  {
    name: "Retrieve a customer",
    operation: "retrieveCustomer",
    path: `/v1/customers/${BRENNER}`,
    isList: false,
    unknown: { path: "/v1/customers/cus_nobody", code: "customer_unknown" },
  },
  { name: "List tanks", operation: "listTanks", path: "/v1/tanks", isList: true },
  {
    name: "Retrieve a tank",
    operation: "retrieveTank",
    path: "/v1/tanks/tank_hall",
    isList: false,
    unknown: { path: "/v1/tanks/tank_nothing", code: "tank_unknown" },
  },
  {
    name: "List telemetry of a tank",
    operation: "listTelemetry",
    path: "/v1/tanks/tank_hall/telemetry",
    isList: true,
    unknown: { path: "/v1/tanks/tank_nothing/telemetry", code: "tank_unknown" },
  },
];
