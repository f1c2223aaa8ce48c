// Mail to customers that failed or expired is sent again, all since a time, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { formatInstant } from "../../src/domain/instant.ts";
import { ManagementService } from "../../src/http/management.ts";
import { at, executed } from "../support/commands.ts";
import { compose, HOUR, measure, NOON, putMailChannel, putOwner, SECOND } from "./compose-support.ts";
import { WHOLE_LOG } from "./conformance/objects.ts";
import { type Engine, type Opened, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

const COLUMNS =
  "id, channel_id, customer_id, destination, event, alert_ids, state, created_at, pending_since, ended_at, payload, attempts";
type Mail = {
  readonly id: string;
  readonly customer: string;
  readonly state?: string;
  readonly event?: string;
  readonly ended?: number;
};

/** When all of them were created. */
const CREATED = NOON - 30 * HOUR;

const addMails = ({ url }: Opened, mails: readonly Mail[]) =>
  runSql(
    url,
    `INSERT INTO notification (${COLUMNS}) VALUES ${mails.map(
      ({ id, customer, state = "expired", event = "alert.opened", ended = NOON }) =>
        `('${id}', NULL, '${customer}', 'mail', '${event}', '[]', '${state}', ${CREATED}, ${CREATED}, ${ended}, '{}', '[]')`,
    )}`,
  );

const pending = async ({ url }: Opened) =>
  (await runSql(url, "SELECT id FROM notification WHERE state = 'pending' ORDER BY id")).map(({ id }) => id);

function mailRecovery(engine: Engine): void {
  test("mail that failed or expired since a time is pending again, to customers who may still get mail", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", []);
    await putOwner(store, "left", [], { settings: { unsubscribed_at: NOON } });
    await putOwner(store, "new", [], { verified_at: null });
    await putOwner(store, "gone", []);
    await executed(store, { type: "delete_customer", id: "gone", tanks: false }, at(NOON));
    await addMails(opened, [
      { id: "expired", customer: "a" },
      { id: "failed", customer: "a", state: "failed" },
      { id: "delivered", customer: "a", state: "delivered" },
      { id: "before", customer: "a", ended: NOON - 1 },
      { id: "link", customer: "a", event: "customer.verification" },
      ...["left", "new", "gone"].map((customer) => ({ id: `to ${customer}`, customer })),
    ]);
    const service = new ManagementService(store, () => NOON + HOUR);
    const fields = { since: formatInstant(NOON) };
    assert.equal(await service.recoverMail({ ...fields, customer_id: "new" }, "test"), 0);
    assert.equal(await service.recoverMail(fields, "test"), 2);
    assert.deepEqual(await pending(opened), ["expired", "failed"]);
    assert.equal(await service.recoverMail(fields, "test"), 0);
  });

  test("mail of a channel is left to the channel", async (t) => {
    const opened = await engine.open(t);
    const { store, url } = opened;
    await putOwner(store, "a", ["t1"]);
    await putMailChannel(store);
    await measure(store, 10, NOON, "t1");
    await compose(opened, NOON + 6 * SECOND);
    await runSql(url, `UPDATE notification SET state = 'expired', due_at = NULL, ended_at = ${NOON + HOUR}`);
    const service = new ManagementService(store, () => NOON + 2 * HOUR);
    assert.equal(await service.recoverMail({ since: formatInstant(NOON) }, "test"), 1);
    const [{ customer_id } = {}] = await runSql(url, "SELECT customer_id FROM notification WHERE state = 'pending'");
    assert.equal(customer_id, "a");
  });

  test("very much mail is sent again in parts, all of it, with an entry of the audit log for each customer and part", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    for (const id of ["a", "b"]) await putOwner(store, id, []);
    const mails = Array.from({ length: 1203 }, (_, i) => ({
      id: `msg_${String(i).padStart(5, "0")}`,
      customer: i < 500 || i % 2 === 0 ? "a" : "b",
      ended: NOON + (i < 700 ? 0 : i),
    }));
    await addMails(opened, mails);
    const service = new ManagementService(store, () => NOON + HOUR);
    assert.equal(await service.recoverMail({ since: formatInstant(NOON) }, "test"), 1203);
    assert.equal((await pending(opened)).length, 1203);
    const { data } = await store.auditPage({ ...WHOLE_LOG, by: "test" });
    const entries = data.map(({ id, action, changes }) => `${action} ${id} ${changes["notifications"]?.to}`);
    assert.deepEqual(
      entries.toSorted(),
      ["a 102", "a 250", "a 500", "b 101", "b 250"].map((text) => `mail_recovered ${text}`),
    );
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: mail that is sent again`, () => mailRecovery(engine));
