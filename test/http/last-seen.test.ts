// last_seen_at follows the use of a customer's keys: soon, at most once a minute, and without a trace in updated_at.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { formatInstant } from "../../src/domain/instant.ts";
import { heldClock } from "../support/clock.ts";
import { until } from "../support/until.ts";
import { get, objectOf } from "./answers.ts";
import { BRENNER, MOSER, startFleet } from "./fleet.ts";

const held = heldClock(Date.parse("2026-11-20T00:00:00Z"));
const fleet = await startFleet({ after }, { clock: held.clock });

/** Asked with the operator's key, which leaves no trace. */
const customer = async (id: string) => objectOf(await get(fleet, `/v1/customers/${id}`, { key: fleet.operator }));
const seenAt = (id: string, instant: number) =>
  until(
    `${id} was seen at ${formatInstant(instant)}`,
    async () => (await customer(id))["last_seen_at"] === formatInstant(instant),
  );

/** Uses Moser's key and waits until that is known: whatever was noted before has then been written as well. */
async function settle(): Promise<void> {
  const at = held.forward(60_000);
  await get(fleet, "/v1/tanks", { key: fleet.moser });
  await seenAt(MOSER, at);
}

describe("last_seen_at", () => {
  it("is not moved by the operator's keys", async () => {
    await get(fleet, `/v1/customers/${BRENNER}`, { key: fleet.operator });
    await settle();
    assert.equal((await customer(BRENNER))["last_seen_at"], "2026-11-14T09:30:00.000Z");
  });

  it("moves when a key of the customer is used, and nothing else of it does", async () => {
    const before = await customer(BRENNER);
    const at = held.forward(1);
    await get(fleet, "/v1/tanks/tank_hall/telemetry", { key: fleet.brenner });
    await seenAt(BRENNER, at);
    assert.deepEqual(await customer(BRENNER), { ...before, last_seen_at: formatInstant(at) });
  });

  it("moves at most once a minute, by whichever key", async () => {
    const other = await fleet.key({ customerId: BRENNER });
    await settle();
    const first = held.forward(0);
    await get(fleet, "/v1/tanks", { key: fleet.brenner });
    await seenAt(BRENNER, first);
    held.forward(59_999);
    for (const key of [fleet.brenner, other]) await get(fleet, "/v1/tanks", { key });
    // Moser's note goes the same way a moment later; when it has arrived, Brenner's would have.
    held.forward(1);
    await get(fleet, "/v1/tanks", { key: fleet.moser });
    await seenAt(MOSER, first + 60_000);
    assert.equal((await customer(BRENNER))["last_seen_at"], formatInstant(first));
    await get(fleet, "/v1/tanks", { key: fleet.brenner });
    await seenAt(BRENNER, first + 60_000);
  });

  it("moves for requests that are refused for their parameters", async () => {
    await settle();
    const at = held.forward(60_000);
    await get(fleet, "/v1/tanks?size=0", { key: fleet.brenner });
    await seenAt(BRENNER, at);
  });

  it("is written before the service stops", async (t) => {
    const short = await startFleet(t, { clock: held.clock });
    const at = held.forward(60_000);
    await get(short, "/v1/tanks", { key: short.brenner });
    await short.stop();
    const db = new DatabaseSync(short.databaseFile, { readOnly: true });
    t.after(() => db.close());
    assert.equal(db.prepare("SELECT last_seen_at FROM customer WHERE id = ?").get(BRENNER)?.["last_seen_at"], at);
  });
});
