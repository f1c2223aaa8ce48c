// Single values of the service, by name.

import { type Prepare, updateExisting } from "./sql-runner.ts";

type ServiceStateName = "event_sequence" | "fleet_order" | "sweep" | "unsubscribe_secret";

export const PUT_SERVICE_STATE = `INSERT INTO service_state (name, value) VALUES ($1, $2) ${updateExisting(["name", "value"])}`;

export function serviceStateTable(prepare: Prepare) {
  return {
    async serviceState(name: ServiceStateName): Promise<string | undefined> {
      const [row] = await prepare("SELECT value FROM service_state WHERE name = $1")(name);
      return row && String(row[0]);
    },

    async putServiceState(name: ServiceStateName, value: string): Promise<void> {
      await prepare(PUT_SERVICE_STATE)(name, value);
    },

    /** False if it is not `before` any more. Holds it until the transaction ends. */
    async replaceServiceState(name: ServiceStateName, before: string | undefined, after: string): Promise<boolean> {
      const replace = prepare(`${PUT_SERVICE_STATE} WHERE service_state.value = $3 RETURNING name`);
      return (await replace(name, after, before ?? null)).length > 0;
    },
  };
}
