// Mail to e-mail channels: it does not wait behind that to customers, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ENGINES, queuesOf } from "./queue.ts";

for (const engine of ENGINES) {
  suite(`${engine.name}: mail to channels`, () => {
    const emptyQueue = queuesOf(engine);

    test("is claimed before that to customers, the oldest of each first", async (t) => {
      const queue = await emptyQueue(t);
      const office = await queue.channel(null, { type: "email", to: "office@example.com" });
      const recipients = [{ customer_id: "anna" }, { customer_id: "ben" }, { customer_id: "cleo" }, { channel_id: office }];
      const ids: string[] = [];
      for (const recipient of [...recipients, ...recipients]) ids.push(await queue.mail("anyone@example.com", recipient));
      await Promise.all(ids.map((id, i) => queue.sql("UPDATE notification SET due_at = due_at - $1 WHERE id = $2", 100 - i, id)));
      const claim = async (limit: number) => {
        const { notifications } = await queue.store.claimNotifications([{ destination: "mail", limit }], Date.now());
        return notifications.map(({ id }) => ids.indexOf(id));
      };
      assert.deepEqual(await claim(1), [3]);
      const [first, ...more] = await claim(3);
      assert.deepEqual([first, more.toSorted()], [7, [0, 1]]);
      assert.deepEqual((await claim(9)).toSorted(), [2, 4, 5, 6]);
      assert.deepEqual(await claim(9), []);
    });
  });
}
