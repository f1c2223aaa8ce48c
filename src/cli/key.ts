// tank-monitor key create|list|rotate|revoke

import { Complaint } from "../domain/errors.ts";
import { formatInstant, formatInstantOrNull } from "../domain/instant.ts";
import { type KnownKey, keyState, ROLES, type Role } from "../domain/key.ts";
import { guess, quoted } from "../domain/text.ts";
import { createKey, type MadeKey, revokeKey, rotateKey } from "../manage/keys.ts";
import { type Call, type Command, configOf, duration, print, say, text, withStore } from "./command.ts";

const DEFAULT_OVERLAP_MS = 24 * 3_600_000;

export const key: Command = {
  name: "key",
  summary: "create, list, rotate and revoke API keys",
  usage: "create --name NAME [options] | list [--json] | rotate ID [--overlap 24h] | revoke ID",
  help: `create   makes a key and prints its secret, alone, on stdout. It is shown this once.
           --name NAME       what the key is for
           --role ROLE       read (the default): the /v1 interface; ingest: sending readings; manage: everything
           --customer ID     the key sees this customer alone
           --device ID       an ingest key for this device alone
           --expires SPAN    such as 90d or 12h; otherwise it never expires
           --rate N          requests a second; otherwise the default for customers' keys, and none for others
list     shows every key, never its secret.
rotate   makes a successor and prints its secret; the old key works for --overlap (24h) longer.
revoke   ends a key within a second.`,
  most: 2,
  flags: {
    name: { type: "string" },
    role: { type: "string" },
    customer: { type: "string" },
    device: { type: "string" },
    expires: { type: "string" },
    rate: { type: "string" },
    overlap: { type: "string" },
    json: { type: "boolean" },
  },
  async run(call) {
    const [action, id] = call.arguments;
    if (id !== undefined && (action === "create" || action === "list")) {
      throw new Complaint(`key ${action}: ${quoted(id)} is one word too many. See npx tank-monitor key --help`, 2);
    }
    switch (action) {
      case "create":
        return create(call);
      case "list":
        return list(call);
      case "rotate":
        return rotate(call, id);
      case "revoke":
        return revoke(call, id);
      default:
        throw new Complaint(
          `key: say create, list, rotate or revoke.${guess(action ?? "", ["create", "list", "rotate", "revoke"])}`,
          2,
        );
    }
  },
};

async function create(call: Call): Promise<number> {
  const name = text(call, "name");
  if (name === undefined) throw new Complaint("key create: --name is missing; it says what the key is for", 2);
  const wish = {
    name,
    role: roleOf(text(call, "role") ?? "read"),
    customerId: text(call, "customer") ?? null,
    deviceId: text(call, "device") ?? null,
    rate: rateOf(text(call, "rate")),
    lifetime: duration(call, "expires") ?? null,
  };
  return tell(await withStore(configOf(call), (store) => createKey(store, Date.now, wish)), "made");
}

async function rotate(call: Call, given: string | undefined): Promise<number> {
  const id = needed(given);
  const overlap = duration(call, "overlap") ?? DEFAULT_OVERLAP_MS;
  return tell(await withStore(configOf(call), (store) => rotateKey(store, Date.now, id, overlap)), `made, successor of ${id}`);
}

async function revoke(call: Call, given: string | undefined): Promise<number> {
  const id = needed(given);
  await withStore(configOf(call), (store) => revokeKey(store, Date.now, id));
  say(`key ${id} is revoked`);
  return 0;
}

function tell({ key, secret }: MadeKey, what: string): number {
  print(secret);
  say(`key ${key.id} (${key.name}, ${key.role}) ${what}. This is the only time its secret is shown.`);
  return 0;
}

async function list(call: Call): Promise<number> {
  const keys = await withStore(configOf(call), (store) => store.keyList());
  const now = Date.now();
  if (call.flags["json"] === true) {
    for (const known of keys) print(JSON.stringify(line(known, now)));
    return 0;
  }
  if (keys.length === 0) say('There are no keys yet. Make one: tank-monitor key create --name "first"');
  else table(keys.map((known) => line(known, now)));
  return 0;
}

function line(known: KnownKey, now: number) {
  return {
    id: known.id,
    object: "key",
    name: known.name,
    role: known.role,
    state: keyState(known, now),
    customer_id: known.customer_id,
    device_id: known.device_id,
    rate: known.rate,
    created_at: formatInstant(known.created_at),
    expires_at: formatInstantOrNull(known.expires_at),
    revoked_at: formatInstantOrNull(known.revoked_at),
    replaced_by: known.replaced_by,
  };
}

function table(lines: readonly ReturnType<typeof line>[]): void {
  const rows = lines.map((key) => [
    key.id,
    key.role,
    key.state,
    key.customer_id ?? key.device_id ?? "everything",
    key.expires_at ?? "never",
    key.name,
  ]);
  const head = ["ID", "ROLE", "STATE", "SEES", "EXPIRES", "NAME"];
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  for (const row of [head, ...rows])
    print(
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

function roleOf(given: string): Role {
  const role = ROLES.find((known) => known === given);
  if (role === undefined) throw new Complaint(`--role must be one of ${ROLES.join(", ")}, not ${quoted(given)}`, 2);
  return role;
}

const MOST_RATE = 1_000_000;

function rateOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const rate = /^\d{1,7}(\.\d{1,3})?$/.test(given) ? Number(given) : 0;
  if (rate <= 0 || rate > MOST_RATE) {
    throw new Complaint(`--rate must be requests a second above 0, up to ${MOST_RATE}, not ${quoted(given)}`, 2);
  }
  return rate;
}

function needed(id: string | undefined): string {
  if (id === undefined) throw new Complaint('say which key: its id, as "tank-monitor key list" shows it', 2);
  return id;
}
