// Requests for mail with a link and a code: when the address is looked up, and the mail is sent.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { Browser, createUser, tokenIn } from "../support/browser.ts";
import { startMailServer } from "../support/mail-server.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { expectStatus } from "./client.ts";

it("the response does not wait for the address to be looked up", async (t) => {
  const mail = { SMTP_URL: "smtp://127.0.0.1:1", MAIL_FROM: "tanks@operator.example", PUBLIC_URL: "http://tanks.localhost" };
  const service = await startService(t, { environment: mail });
  await createUser(service, "viewer", "known@operator.example");
  // Nothing can be written meanwhile.
  const other = new DatabaseSync(service.databaseFile, { timeout: 5000 });
  other.exec("BEGIN IMMEDIATE");
  for (const email of ["known@operator.example", "unknown@operator.example"]) {
    expectStatus(await new Browser(service).send("POST", "/auth/v1/sign-in", { email }), 202);
  }
  other.exec("ROLLBACK");
  other.close();
});

it("an address is looked up at least 50 ms after the request, and at once where the service stops", async (t) => {
  const mails = await startMailServer(t);
  const mail = { SMTP_URL: mails.url, MAIL_FROM: "tanks@operator.example", PUBLIC_URL: "http://tanks.localhost" };
  const service = await startService(t, { environment: mail });
  await createUser(service, "viewer", "known@operator.example");
  const lookups = () => service.events.filter((event) => event.kind === "write_completed" && event.write === "execute").length;
  for (const email of ["known@operator.example", "unknown@operator.example"]) {
    const [before, started] = [lookups(), performance.now()];
    expectStatus(await new Browser(service).send("POST", "/auth/v1/sign-in", { email }), 202);
    await until("it is looked up", () => lookups() > before);
    const took = performance.now() - started;
    assert.ok(took > 49, `after ${took} ms`);
  }
  await until("the mail arrives", () => mails.received.length === 1, 20_000);
  expectStatus(await new Browser(service).send("POST", "/auth/v1/sign-in", { email: "known@operator.example" }), 202);
  await service.stop();
  assert.equal(mails.received.length, 2);
});

it("mail is sent again while the mail server is not available, with the same link", async (t) => {
  const mails = await startMailServer(t, { behaviour: "greylist" });
  const mail = { SMTP_URL: mails.url, MAIL_FROM: "tanks@operator.example", PUBLIC_URL: "http://tanks.localhost" };
  const service = await startService(t, { environment: mail });
  await createUser(service, "viewer", "late@operator.example");
  const browser = new Browser(service);
  expectStatus(await browser.send("POST", "/auth/v1/sign-in", { email: "late@operator.example" }), 202);
  await until(
    "it has failed",
    async () => service.events.some(({ kind }) => kind === "sign_in_mail_failed") || undefined,
    20_000,
  );
  mails.behaviour = "accept";
  const received = await until("it arrives", async () => mails.received[0], 20_000);
  await browser.signInWith(tokenIn(received.parsed.text ?? ""));
});
