// Mail to owners with its link to unsubscribe, on both engines: in which language it is, and that no token of a link is stored.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { customerIn, isGenuineToken } from "../../src/domain/unsubscribe.ts";
import { claimedToken, requestLink } from "../support/verification.ts";
import { claimedMails, compose, measure, NOON, putOwner, SECOND } from "./compose-support.ts";
import { putTanks, tank } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { isStored, runSql } from "./raw-sql.ts";

function mailLinks(engine: Engine): void {
  test("mail to an owner is in their language, with a link to unsubscribe on PUBLIC_URL", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "plain", ["t1"]);
    await putOwner(store, "chosen", ["t2"], { settings: { language: "de" } });
    await putOwner(store, "by country", [], { name: "Jörg\r\nBcc: x@evil.example <b>".replace("\r\n", " ") });
    const { location } = tank("x", "x");
    await putTanks(store, tank("t3", "by country", { location: { ...location, country: "Austria" } }));
    await measure(store, 10, NOON, "t1", "t2", "t3");
    await compose(opened, NOON + 6 * SECOND);
    const secret = (await store.unsubscribeSecret()) ?? "";
    const found = new Map((await claimedMails(opened)).map((mail) => [mail.to, mail]));
    for (const [id, language, zone] of [
      ["plain", "en", "UTC"],
      ["chosen", "de", "UTC"],
      ["by country", "de", "MESZ"],
    ] as const) {
      const mail = found.get(`${id}@customers.example`) ?? assert.fail(id);
      assert.equal(mail.headers["Content-Language"], language);
      assert.match(mail.text, new RegExp(zone));
      const [, token = ""] =
        /^<https:\/\/tanks\.example\.com\/monitor\/unsubscribe\?token=(.+)>$/.exec(mail.headers["List-Unsubscribe"] ?? "") ?? [];
      assert.equal(mail.headers["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click");
      assert.equal(customerIn(token), id);
      assert.ok(isGenuineToken(token, secret, { id, email: mail.to }));
      assert.ok(mail.text.includes(`/unsubscribe?token=${token}\n`) && mail.html.includes(`/unsubscribe?token=${token}"`));
      assert.match(mail.text, /: https:\/\/tanks\.example\.com\/monitor\/tanks\/t[123]\n/);
    }
    const { html } = found.get("by country@customers.example") ?? assert.fail();
    assert.doesNotMatch(html, /<b>/);
    assert.deepEqual(await claimedMails(opened), [...found.values()], "the next attempt sends the same mail");
  });

  test("neither an export nor the audit log has the secret of links, or a token, and no token is stored", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await putOwner(store, "b", [], { verified_at: null });
    await measure(store, 10, NOON, "t1");
    await compose(opened, NOON + 6 * SECOND);
    const [mail] = await claimedMails(opened);
    const [, unsubscribeToken] = /\/unsubscribe\?token=([\w.-]+)\n/.exec(mail?.text ?? "") ?? assert.fail();
    const tokens = [unsubscribeToken ?? "", await claimedToken(store, await requestLink(store, "b"))];
    const secret = (await store.unsubscribeSecret()) ?? assert.fail();
    const audit = await runSql(opened.url, "SELECT * FROM audit");
    const exported: unknown[] = [];
    for await (const record of store.exportRecords()) exported.push(record);
    const text = JSON.stringify([audit, exported]);
    assert.ok(exported.length > 0 && !text.includes(secret));
    for (const known of [secret, "a@customers.example"]) assert.equal(await isStored(known, opened.url), true);
    for (const token of tokens) assert.ok(!text.includes(token) && !(await isStored(token, opened.url)), token);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: links in mail`, () => mailLinks(engine));
