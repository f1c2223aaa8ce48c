// Lines of import files.

export type Line = Readonly<Record<string, unknown>>;

export function customer(id: string, fields: Line = {}): Line {
  const created_at = "2026-01-01T00:00:00.000Z";
  return { object: "customer", id, created_at, email: `${id}@customers.example`, name: `Customer ${id}`, ...fields };
}

export function tank(id: string, owner: string, fields: Line = {}): Line {
  return {
    object: "tank",
    id,
    owner_id: owner,
    assigned_device_id: `device-${id}`,
    capacity: 2700,
    capacity_unit: "liters",
    created_at: "2026-01-02T00:00:00.000Z",
    min_fill_alert_percentage: 20,
    name: `Tank ${id}`,
    ...fields,
  };
}
