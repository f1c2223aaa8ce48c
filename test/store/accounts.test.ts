// Users and sessions on both engines: what a check finds, what a backup keeps, and how many sessions an account has.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { DAY } from "../../src/domain/instant.ts";
import { MAX_SESSIONS, SESSION_LIFETIME_MS } from "../../src/domain/session.ts";
import { MAX_SIGN_IN_MAILS } from "../../src/domain/sign-in.ts";
import type { Store } from "../../src/domain/store.ts";
import { restoreStore } from "../../src/store/open.ts";
import { createUser, startSession } from "../support/browser.ts";
import { manualClock } from "../support/clock.ts";
import { at, executed } from "../support/commands.ts";
import { customerRecord } from "../support/records.ts";
import { sqlOn } from "../support/sql.ts";
import { checked } from "./conformance/objects.ts";
import { postgresEngine, sqliteEngine } from "./engines.ts";

const findings = async (store: Store) => (await checked(store)).findings.map(({ where, what }) => `${where}: ${what}`);

for (const engine of [sqliteEngine, postgresEngine]) {
  describe(engine.name, () => {
    it("a check finds users that no command has created", async (t) => {
      const { store, url } = await engine.open(t);
      const id = await createUser({ store }, "admin");
      await startSession(store, Date.now, "admin@operator.example");
      assert.deepEqual(await findings(store), []);
      const sql = await sqlOn(t, url);
      await sql("UPDATE app_user SET role = 'root'");
      const [user = "", users = "", ...others] = await findings(store);
      assert.match(user, new RegExp(`^user ${id}: role: .*change or remove the user$`));
      assert.match(users, /^users: none of them is an admin/);
      assert.deepEqual(others, []);
    });

    it("a session that belongs to a user and a customer is found, and removed by a repair", async (t) => {
      const { store, url } = await engine.open(t);
      await createUser({ store }, "admin");
      await store.importCustomers([customerRecord("c")]);
      await startSession(store, Date.now, "admin@operator.example");
      await (await sqlOn(t, url))("UPDATE session SET customer_id = 'c'");
      assert.match((await findings(store)).join(), /^sessions: 1 without a user or customer/);
      const repaired = await Array.fromAsync(store.check(true, () => {}));
      assert.deepEqual(
        repaired.map((finding) => finding.repaired),
        [true],
      );
      assert.deepEqual(await findings(store), []);
    });

    it("a restored database has its users, and no sessions", async (t) => {
      const { store, reopen, folder, url } = await engine.open(t);
      const id = await createUser({ store }, "admin");
      await startSession(store, Date.now, "admin@operator.example");
      const file = join(folder, "backup");
      await store.backup(file, () => {});
      await store.close();
      await restoreStore(url, file, { force: true, progress: () => {}, onFinding: () => {} });
      const restored = await reopen();
      assert.deepEqual(
        (await restored.userList()).map((user) => user.id),
        [id],
      );
      assert.deepEqual(await restored.sessionsOf({ type: "user", id }, 0), []);
    });

    it("an account has N sessions, and the oldest ends with one more; expired ones are removed", async (t) => {
      const { store, url } = await engine.open(t);
      const { clock, forward } = manualClock();
      const id = await createUser({ store }, "admin", undefined, clock);
      const sql = await sqlOn(t, url);
      const started: string[] = [];
      for (let i = 0; i < MAX_SESSIONS + 2; i++) {
        forward(6 * 60_000);
        started.push((await startSession(store, clock, "admin@operator.example")).id);
      }
      const open = await store.sessionsOf({ type: "user", id }, clock());
      assert.deepEqual(
        open.map((session) => session.id),
        started.slice(2).reverse(),
      );
      const query = { page: 1, size: 4, from: undefined, to: undefined, by: undefined, object: undefined, id };
      const [old = "", older = "", last = "", before = ""] = [...started.slice(0, 2).reverse(), ...started.slice(-2).reverse()];
      assert.deepEqual(
        (await store.auditPage(query)).data.map(({ action, changes }) => [action, changes["session"]]),
        [
          ["signed_in", { from: null, to: last }],
          ["signed_out", { from: old, to: null }],
          ["signed_in", { from: null, to: before }],
          ["signed_out", { from: older, to: null }],
        ],
      );
      forward(SESSION_LIFETIME_MS);
      await startSession(store, clock, "admin@operator.example");
      assert.equal((await sql("SELECT id FROM session")).length, 1);
    });

    it("an address gets mail again as soon as a clock that was ahead is right, however many were requested before", async (t) => {
      const { store, url } = await engine.open(t);
      await store.importCustomers([customerRecord("c")]);
      const now = Date.now();
      let requests = 0;
      async function request(time: number): Promise<number> {
        const secrets = [{ hash: `hash ${++requests}`, code: "code" }];
        const { object } = await executed(
          store,
          { type: "request_sign_in", email: "c@customers.example", browser: "browser", secrets },
          at(time),
        );
        return (object["mails"] as readonly unknown[]).length;
      }
      const sentAhead: number[] = [];
      for (let i = 0; i <= MAX_SIGN_IN_MAILS; i++) sentAhead.push(await request(now + 365 * DAY));
      assert.deepEqual([sentAhead.at(0), sentAhead.at(-1)], [1, 0]);
      assert.equal(await request(now), 1);
      assert.equal((await (await sqlOn(t, url))("SELECT hash FROM sign_in")).length, 1);
    });
  });
}
