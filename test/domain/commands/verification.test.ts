import assert from "node:assert/strict";
import test from "node:test";
import type { Notification } from "../../../src/domain/alerts/notification.ts";
import { hashSecret } from "../../../src/domain/key.ts";
import type { Mail } from "../../../src/domain/mail/mail.ts";
import { type EmailVerification, TOKEN_PLACEHOLDER } from "../../../src/domain/verification.ts";
import { storedTank } from "../lookups.ts";
import { assertErrors, errorOf, NOW, planned, STORED } from "./planned.ts";

const TOKEN = "the-token";
const HOUR = 3_600_000;
const request = (id: string) =>
  ({ type: "request_verification", id, newId: "msg_new", publicUrl: "https://x.example/tanks" }) as const;
const verify = { type: "verify_customer", hash: hashSecret(TOKEN) } as const;
const BEN = { customer_id: "ben", email: "office@customers.example" };
const LINK: EmailVerification = { hash: hashSecret(TOKEN), ...BEN, expires_at: NOW + 1 };

const sentAt = (created_at: number): Notification => ({
  ...{
    id: `msg_${created_at}`,
    channel_id: null,
    customer_id: "ben",
    about_customer: null,
    event: "customer.verification",
    alert_ids: [],
    tank_id: null,
  },
  ...{ state: "delivered", next_attempt_at: null, created_at, attempts: [] },
});

const mailOf = async (objects = STORED): Promise<Mail> => {
  const [notification] = (await planned(request("ben"), objects)).notifications;
  return JSON.parse(notification?.payload ?? "") as Mail;
};

test("a request creates a mail without the token of its link, and earlier links become invalid", async () => {
  const { resource, verificationsRevoked, audit } = await planned(request("ben"));
  const mail = await mailOf();
  assert.equal(mail.to, BEN.email);
  const link = `https://x.example/tanks/verify?token=${TOKEN_PLACEHOLDER}`;
  assert.ok(mail.text.includes(link) && mail.html.includes(`href="${link}"`));
  assert.deepEqual(verificationsRevoked, ["ben"]);
  assert.equal(resource.object["event"], "customer.verification");
  assert.doesNotMatch(JSON.stringify([resource, audit]), /verify/);
});

test("the mail is in the language of the customer, or of the country of a tank", async () => {
  const [, ben] = STORED.customers ?? [];
  assert.ok(ben !== undefined);
  assert.equal((await mailOf()).headers["Content-Language"], "en");
  const tanks = [storedTank("x", "ben", { location: { ...storedTank("x", "ben").tank.location, country: "AT" } })];
  assert.equal((await mailOf({ ...STORED, tanks })).headers["Content-Language"], "de");
  const german = { ...ben, notifications: { language: "de", unsubscribed_at: null } } as const;
  assert.equal((await mailOf({ ...STORED, customers: [german] })).headers["Content-Language"], "de");
});

test("a verified, deleted or unknown customer is not sent a link", async () => {
  await assertErrors("state_conflict", [request("anna"), request("gone")]);
  await assertErrors("customer_unknown", [request("nobody")]);
});

test("a customer is sent five links an hour", async () => {
  const sent = (...times: readonly number[]) => ({ ...STORED, notifications: times.map(sentAt) });
  const four = [NOW - 50, NOW - 40, NOW - 30, NOW - 20];
  await planned(request("ben"), sent(NOW - HOUR, ...four));
  const error = await errorOf(request("ben"), sent(NOW - HOUR + 5000, ...four));
  assert.deepEqual([error.error, error.retryAfter], ["rate_limited", 5]);
});

test("mail with a link that is not sent yet ends when another is requested; mail of a clock that was ahead does not count", async () => {
  const pending = { ...sentAt(NOW - 10 * HOUR), state: "pending" } as const;
  const notifications = [pending, ...[1, 2, 3, 4, 5].map((hours) => sentAt(NOW + hours * HOUR))];
  const { notificationsEnded } = await planned(request("ben"), { ...STORED, notifications });
  assert.deepEqual(notificationsEnded, [{ ids: [pending.id], reason: "another link was requested" }]);
});

test("a link verifies the address it was sent to, and all links become invalid", async () => {
  const { customers, verificationsRevoked } = await planned(verify, { ...STORED, verifications: [LINK] });
  assert.deepEqual(
    customers.map(({ id, after }) => [id, after.customer.verified_at, after.customer.updated_at]),
    [["ben", NOW, NOW]],
  );
  assert.deepEqual(verificationsRevoked, ["ben"]);
});

test("a link is invalid when it is unknown, expired, or the customer has another address or is deleted", async () => {
  for (const link of [
    { ...LINK, hash: "other" },
    { ...LINK, expires_at: NOW },
    { ...LINK, email: "former@customers.example" },
    { ...LINK, customer_id: "gone" },
  ]) {
    await assertErrors("customer_unknown", [verify], { ...STORED, verifications: [link] });
  }
});

test("a customer who was verified meanwhile keeps the time of it", async () => {
  const link = { ...LINK, customer_id: "anna", email: "anna@b.example" };
  assert.deepEqual((await planned(verify, { ...STORED, verifications: [link] })).customers, []);
});
