// tank-monitor key create|list|rotate|revoke

import { UserError } from "../domain/errors.ts";
import { MAX_RATE, MIN_RATE } from "../domain/key.ts";
import { quoted } from "../domain/text.ts";
import { apiCommand, listCommand, printSecret, textColumn, textOrNull } from "./api-command.ts";
import { type CommandGroup, parseDurationFlag } from "./command.ts";
import { DEFAULT_OVERLAP, overlapField } from "./fields.ts";
import { clean, printMessage } from "./output.ts";
import { type Item, pathTo, type Service, ServiceError } from "./service.ts";

const create = apiCommand({
  name: "create",
  summary: "create a key and print its secret",
  help: "Create a key and print only its secret on stdout. The secret is shown only once.",
  example: 'key create --name "gateway north" --role ingest',
  body: [
    { flag: "name", path: "name", value: "NAME", help: "what the key is for" },
    {
      flag: "role",
      path: "role",
      value: "ROLE",
      help: "read (default): /v1, /insight/v1; ingest: send readings; metrics: /metrics; manage: everything",
    },
    { flag: "customer", path: "customer_id", value: "ID", help: "limit the key to this customer" },
    { flag: "device", path: "device_id", value: "ID", help: "limit an ingest key to this device" },
    {
      flag: "expires",
      path: "expires_at",
      value: "DURATION",
      help: "such as 90d or 12h; never by default",
      parse: parseDurationFlag,
    },
    {
      flag: "rate",
      path: "rate",
      value: "N",
      help: "requests per second; by default only customers' keys are limited",
      parse: parseRate,
    },
  ],
  required: ["name"],
  mayCreate: true,
  async execute({ body: { expires_at: lifetimeMs, ...fields }, service }) {
    const { role, customer_id } = fields;
    if ((role === "manage" || role === "metrics") && customer_id !== undefined) {
      throw new UserError(`key create: --customer is not for the role ${role} (given: ${quoted(String(customer_id))})`, 2);
    }
    const expires_at = typeof lifetimeMs === "number" ? new Date(Date.now() + lifetimeMs).toISOString() : undefined;
    const body = { ...fields, ...(expires_at !== undefined && { expires_at }) };
    const key = await service({ method: "POST", path: pathTo("keys"), body, sendsIdempotencyKey: true });
    reportSecret(key, "created");
    await warnOfUnknownDevice(service, key);
    return 0;
  },
});

function parseRate(given: string): number {
  const rate = /^\d{1,7}(\.\d{1,3})?$/.test(given) ? Number(given) : 0;
  if (rate >= MIN_RATE && rate <= MAX_RATE) return rate;
  throw new UserError(`--rate must be requests per second from ${MIN_RATE} to ${MAX_RATE}, not ${quoted(given)}`, 2);
}

/** A key may be created before its device has sent anything, but a mistyped id would never work. */
async function warnOfUnknownDevice(service: Service, { device_id }: Item): Promise<void> {
  if (typeof device_id !== "string") return;
  try {
    await service({ method: "GET", path: pathTo("devices", device_id) });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "device_unknown") throw error;
    printMessage(clean(`Device ${device_id} is not known yet: check the id. The key works for this id only.`));
  }
}

const rotate = apiCommand({
  name: "rotate",
  summary: "replace a key and print the new secret",
  help: `Create a new key with the same permissions and print its secret. The old key keeps working for --overlap (${DEFAULT_OVERLAP}).`,
  example: "key rotate key_… --overlap 7d",
  argumentNames: ["key"],
  query: [overlapField("how long the old key keeps working")],
  async execute({ id: given, query, service, keyId }) {
    const id = await keyId(given);
    const overlap = query["overlap"] ?? DEFAULT_OVERLAP;
    const old = await service({ method: "GET", path: pathTo("keys", id) });
    const key = await service({ method: "POST", path: pathTo("keys", id, "rotate"), query: { overlap }, notIdempotent: true });
    reportSecret(key, `created, replacing ${id}`);
    printMessage(clean(`The old key ${validityText(old, overlap)}.`));
    return 0;
  },
});

/** How long a rotated key works: no longer than it would have without the rotation. */
function validityText({ expires_at }: Item, overlap: string): string {
  const overlapMs = parseDurationFlag(overlap, "overlap");
  if (overlapMs === 0) return "no longer works";
  const expiresFirst = typeof expires_at === "string" && Date.parse(expires_at) < Date.now() + overlapMs;
  return expiresFirst ? `works until it expires, at ${expires_at}` : `works for another ${overlap}`;
}

const revoke = apiCommand({
  name: "revoke",
  summary: "revoke a key permanently; it is rejected within a second",
  help: `Revoke a key permanently; it is rejected within a second. KEY is its id or, without --url, its secret.`,
  example: "key revoke key_…",
  argumentNames: ["key"],
  async execute({ id: given, service, keyId }) {
    const id = await keyId(given);
    const path = pathTo("keys", id);
    const { state } = await service({ method: "GET", path });
    if (state !== "revoked") await service({ method: "DELETE", path });
    printMessage(clean(`key ${id} ${state === "revoked" ? "is already revoked" : "revoked"}`));
    return 0;
  },
});

function reportSecret(key: Item, done: string): void {
  printSecret("key", key, "Revoke it and create another.");
  printMessage(clean(`key ${key["id"]} (${key["name"]}, ${key["role"]}) ${done}. Its secret is shown only once.`));
}

const list = listCommand({
  name: "list",
  summary: "list keys, newest first, without their secrets",
  example: "key list",
  path: pathTo("keys"),
  empty: 'No keys yet. Create one: npx tank-monitor key create --name "first"',
  columns: [
    textColumn("ID", "id"),
    textColumn("ROLE", "role"),
    textColumn("STATE", "state"),
    { title: "SCOPE", cell: scopeText },
    { title: "RATE", cell: rateText, alignRight: true },
    { title: "EXPIRES", cell: ({ expires_at }) => textOrNull(expires_at) ?? "never" },
    textColumn("NAME", "name", 60),
  ],
});

function scopeText({ role, customer_id, device_id }: Item): string {
  return textOrNull(customer_id) ?? textOrNull(device_id) ?? (role === "metrics" ? "metrics" : "everything");
}

/** Where none is set, keys of customers have the default rate of the service, other keys none. */
function rateText({ rate, customer_id }: Item): string {
  if (typeof rate === "number") return `${rate}/s`;
  return customer_id === null ? "none" : "default";
}

export const key: CommandGroup = {
  name: "key",
  summary: "create, list, rotate and revoke API keys",
  actions: [create, list, rotate, revoke],
};
