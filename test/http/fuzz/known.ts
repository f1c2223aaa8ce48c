// What random requests refer to: objects and keys, created at the start of a round or learned from responses.

import { type Clock, formatInstant } from "../../../src/domain/instant.ts";
import { newSecret, type Role } from "../../../src/domain/key.ts";
import type { SessionRole } from "../../../src/domain/session.ts";
import { USER_ROLES } from "../../../src/domain/user.ts";
import { ManagementService } from "../../../src/http/management.ts";
import { startSession } from "../../support/browser.ts";
import type { ManualClock } from "../../support/clock.ts";
import type { Service } from "../../support/service.ts";
import { expectStatus, type Item, jsonClient } from "../client.ts";
import { Reference } from "./values.ts";

const MAX_IDS = 64;
const MAX_ETAGS = 1000;
/** The name of keys that requests are sent with, so that none changes them. */
const RESERVED = "reserved";

/** A key; its role is `none` where it does not work. With `session` it is somebody who is signed in, with this role. */
export type SenderKey = {
  readonly secret: string;
  readonly role: Role | "none";
  readonly customerId: string | null;
  readonly session?: SessionRole;
  /** Of somebody who is signed in. */
  readonly email?: string;
};

const withoutQuery = (path: string): string => path.split("?", 1)[0] ?? "";

export class KnownObjects {
  readonly #ids = new Map<string, string[]>();
  readonly #etags = new Map<string, string>();
  /** Keys that requests have created, some of them expired or revoked by now. */
  readonly keys: SenderKey[] = [];
  /** Users who were signed in for the present round. */
  userIds: readonly string[] = [];

  id({ kind, isDeleted, index }: Reference): string {
    const deleted = isDeleted ? this.#ids.get(`deleted ${kind}`) : undefined;
    const ids = deleted ?? this.#ids.get(kind) ?? [];
    return ids[index % ids.length] ?? "none";
  }

  forget(kind: string): void {
    this.#ids.delete(kind);
  }

  etagOf(path: string): string {
    return this.#etags.get(path) ?? this.#etags.get(withoutQuery(path)) ?? "*";
  }

  learn(path: string, etag: string | undefined, body: unknown): void {
    if (this.#etags.size > MAX_ETAGS) this.#etags.clear();
    if (etag !== undefined) for (const known of [path, withoutQuery(path)]) this.#etags.set(known, etag);
    this.#learnFrom(body);
  }

  #learnFrom(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    const { object, id, deleted, name, secret, role, customer_id, assigned_device_id, url } = value as Item;
    const [, token] = /#token=(\w+)$/.exec(String(url)) ?? [];
    if (token !== undefined) this.#add("token", token, false);
    if (typeof id === "string" && name !== RESERVED) this.#add(`${object}`, id, deleted === true);
    if (typeof assigned_device_id === "string") this.#add("device", assigned_device_id, false);
    if (typeof secret === "string" && typeof role === "string" && name !== RESERVED) {
      this.keys.push({ secret, role: role as Role, customerId: customer_id as string | null });
      if (this.keys.length > MAX_IDS) this.keys.shift();
    }
    for (const inner of Object.values(value)) this.#learnFrom(inner);
  }

  #add(kind: string, id: string, isDeleted: boolean): void {
    const [to, from] = isDeleted ? [`deleted ${kind}`, kind] : [kind, `deleted ${kind}`];
    const others = this.#ids.get(from) ?? [];
    if (others.includes(id)) others.splice(others.indexOf(id), 1);
    const ids = this.#ids.get(to) ?? [];
    this.#ids.set(to, ids);
    if (ids.includes(id)) return;
    ids.push(id);
    if (ids.length > MAX_IDS) ids.shift();
  }
}

/** It must not contain the id of the customer, which others may not see. */
const deviceOf = (customerId: string, n: number): string => `${customerId.replace("cus", "dev")}-${n}`;

/** Signs in a user of each role and a customer, each several times, and creates links. */
async function signIn(
  service: Service,
  clock: Clock,
  known: KnownObjects,
  customer: { readonly email: string; readonly customerId: string },
): Promise<SenderKey[]> {
  // Those of earlier rounds are of others than the senders, and have expired.
  for (const kind of ["session", "token"]) known.forget(kind);
  const { store } = service;
  const management = new ManagementService(store, clock);
  const people: { email: string; session: SessionRole; customerId: string | null }[] = [{ ...customer, session: "customer" }];
  const userIds: string[] = [];
  for (const role of USER_ROLES) {
    const email = `${role}-${clock()}@operator.example`;
    const fields = { email, name: RESERVED, role };
    const { resource } = await management.execute({ type: "create_user", newId: management.newId("usr"), fields }, "test");
    const id = `${resource.object["id"]}`;
    userIds.push(id);
    for (let i = 0; i < 4; i++) known.learn("", undefined, await management.createSignInLink({ type: "user", id }, "test"));
    people.push({ email, session: role, customerId: null });
  }
  // There may be 1,000. A request may have removed one already.
  for (const id of known.userIds)
    await management.execute({ type: "remove_user", id, ifMatch: undefined }, "test").catch(() => {});
  known.userIds = userIds;
  const senders: SenderKey[] = [];
  for (const { email, session, customerId } of people) {
    const [first, ...others] = await Promise.all([1, 2, 3, 4].map(() => startSession(store, clock, email)));
    // The others are ended by requests.
    for (const { id } of others) known.learn("", undefined, { object: "session", id });
    senders.push({ secret: first?.secret ?? "", role: "none", customerId, session, email });
  }
  return senders;
}

/** Creates two customers with tanks, two channels with a notification, and returns keys of every role, scope and state. */
export async function startRound(
  service: Service,
  { clock, forward }: ManualClock,
  roles: readonly string[],
  known: KnownObjects,
): Promise<SenderKey[]> {
  const manage = jsonClient(service, await service.key({ role: "manage", name: RESERVED }));
  async function create(path: string, fields: object | undefined): Promise<Item> {
    const body = expectStatus(await manage("POST", `/manage/v1/${path}`, fields), 201);
    known.learn("", undefined, body);
    return body;
  }
  async function key(fields: object): Promise<SenderKey & { readonly id: string }> {
    const created = await create("keys", { name: RESERVED, ...fields });
    const { id, secret, role, customer_id } = created as { id: string; secret: string; role: Role; customer_id: string | null };
    return { id, secret, role, customerId: customer_id };
  }
  const customers: string[] = [];
  const moser = `moser-${clock()}@customers.example`;
  for (const [name, email] of [
    ["Brenner", "office@brenner-gas.example"],
    ["Moser", moser],
  ] as const) {
    const { id } = await create("customers", { name, email });
    customers.push(`${id}`);
    const fields = { name, owner_id: id, capacity: 2700, capacity_unit: "liters", min_fill_alert_percentage: 20 };
    for (const n of [1, 2]) await create("tanks", { ...fields, assigned_device_id: deviceOf(`${id}`, n) });
  }
  const channels = [
    { type: "webhook", url: known.id(new Reference("receiver", false, 0)) },
    { type: "email", to: "dispatch@brenner-gas.example" },
  ];
  for (const channel of channels) {
    const { id } = await create("channels", channel);
    await create(`channels/${id}/test`, undefined);
  }
  // All tanks are low.
  const low = customers.flatMap((id) => [1, 2].map((n) => ({ device_id: deviceOf(id, n), fill_percentage: 5 })));
  expectStatus(await manage("POST", "/ingest/v1/readings", low), 200);
  const alerts = expectStatus(await manage("GET", "/insight/v1/alerts?state=open&size=100"), 200);
  known.learn("", undefined, alerts);
  // Only the note of an acknowledged alert can be changed.
  for (const { id } of (alerts["data"] as Item[]).slice(0, 2)) {
    expectStatus(await manage("POST", `/manage/v1/alerts/${id}/acknowledge`), 200);
  }
  const bound = customers.flatMap((customer_id) => [{ customer_id }, { role: "ingest", customer_id }]);
  const active = [...roles.map((role) => ({ role })), ...bound, { role: "ingest", device_id: deviceOf(`${customers[0]}`, 1) }];
  const keys = await Promise.all(active.map(key));
  const revoked = await key({ role: "manage" });
  expectStatus(await manage("DELETE", `/manage/v1/keys/${revoked.id}`), 200);
  const expired = await key({ role: "manage", expires_at: formatInstant(clock() + 1) });
  forward(1);
  const wrong = [newSecret(), "wrong", ""].map((secret) => ({ secret, customerId: null }));
  const sessions = await signIn(service, clock, known, { email: moser, customerId: customers[1] ?? "" });
  return [...keys, ...sessions, ...[revoked, expired, ...wrong].map((one) => ({ ...one, role: "none" as const }))];
}
