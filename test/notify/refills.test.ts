// From readings that show a delivery to what arrives: mail at a real mail server, and a webhook after its delay.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { computeForecast } from "../../src/forecast/compute.ts";
import { computeDueForecasts } from "../../src/forecast/due-forecasts.ts";
import { startComposer } from "../../src/notify/compose.ts";
import { customer, putCustomers, putTanks, tank } from "../store/conformance/objects.ts";
import { startMailServer } from "../support/mail-server.ts";
import { ingest } from "../support/readings.ts";
import { until } from "../support/until.ts";
import { ENGINES, openQueue } from "./queue.ts";
import { recordingReceiver } from "./receiver.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Every six hours for 60 days, one percent less a day, and a delivery of 40 percent between 66 and 60 hours ago. */
const delivered = (tankId: string, now: number) =>
  Array.from({ length: 241 }, (_, i) => {
    const ago = (240 - i) * 6 * HOUR;
    return { tank: tankId, at: now - ago, fill: 30 + ago / DAY - (ago > 63 * HOUR ? 20 : -20) };
  });

for (const engine of ENGINES) {
  suite(`${engine.name}: refills`, () => {
    test("a delivery that readings show arrives by mail and by webhook", async (t) => {
      const queue = await openQueue(t, engine);
      const { store, events } = queue;
      const [server, receiver] = [await startMailServer(t), await recordingReceiver(t)];
      await queue.channel(null, { type: "email", to: "office@example.com" });
      const hook = await queue.channel(receiver.url);
      await queue.sql("UPDATE channel SET delay = 5000 WHERE id = $1", hook);
      await putCustomers(store, customer("a", { name: "Brenner Gas GmbH", verified_at: 1 }));
      await putTanks(store, tank("one", "a", { name: "Hall 3" }));
      // Collected for five seconds, it is due now.
      const now = Date.now() - 5500;
      await ingest(store, ...delivered("one", now));
      await store.updateSortKeys(["one"], now);
      const observe = (event: (typeof events)[number]) => events.push(event);
      const task = { store, clock: () => now, observe, everyMs: 0, isStopping: () => false };
      await computeDueForecasts({ ...task, compute: computeForecast });
      const composer = startComposer({ store, settings: { publicUrl: null }, clock: Date.now, observe });
      t.after(() => composer.stop());
      queue.start({ mail: { smtpUrl: server.url, mailFrom: { name: null, address: "tanks@example.com" } } });
      await until("both have arrived", async () => (await queue.states())["delivered"] === 2, 15_000);
      const [mail, ...otherMail] = server.received;
      assert.deepEqual([mail?.to, mail?.parsed.subject, otherMail], [["office@example.com"], "Tank refilled, 52.5%: Hall 3", []]);
      assert.match(
        mail?.parsed.text ?? "",
        /Fill: from 12\.8% to 52\.5%\n {2}Volume: 1,073 liters\n {2}Refilled: between .+ and .+\n {2}Customer: Brenner Gas GmbH\n/,
      );
      const [webhook, ...otherWebhooks] = receiver.received;
      const { type, data } = JSON.parse(webhook?.body ?? "{}");
      assert.deepEqual([type, data.tank.id, otherWebhooks], ["tank.refilled", "one", []]);
      const failures = events.filter(({ kind }) => kind !== "notification_delivered");
      assert.deepEqual(failures, []);
    });
  });
}
