// tank-monitor key create|list|rotate|revoke

import { UserError } from "../domain/errors.ts";
import { MAX_RATE } from "../domain/key.ts";
import { quoted } from "../domain/text.ts";
import { type Call, duration, type Group, print, say, text } from "./command.ts";
import { bodyOf, type Field } from "./fields.ts";
import { LIST_FLAGS, LIST_HELP, listing } from "./lists.ts";
import { idIn, managing, WHERE } from "./managing.ts";
import { Problem } from "./problem.ts";
import { type Item, pathTo, type Service } from "./request.ts";
import { clean } from "./width.ts";

const FIELDS: readonly Field[] = [
  { flag: "name", path: "name", value: "NAME", words: "what the key is for" },
  {
    flag: "role",
    path: "role",
    value: "ROLE",
    words: "read (the default): the /v1 interface; ingest: sending readings; manage: everything",
  },
  { flag: "customer", path: "customer_id", value: "ID", words: "the key sees this customer alone" },
  { flag: "device", path: "device_id", value: "ID", words: "an ingest key for this device alone" },
];
const OTHERS = [
  { flag: "expires", value: "SPAN", words: "such as 90d or 12h; otherwise it never expires" },
  { flag: "rate", value: "N", words: "requests a second; otherwise the default for customers' keys, and none for others" },
];

const create = managing({
  name: "create",
  summary: "make a key, and print its secret, which is shown this once",
  usage: "--name NAME [--role ROLE] [--customer ID | --device ID] [--expires SPAN] [--rate N]",
  help: "Makes a key and prints its secret, alone, on stdout. It is shown this once.",
  example: 'key create --name "gateway north" --role ingest',
  most: 0,
  fields: FIELDS,
  more: OTHERS,
  needs: ["name"],
  flags: { expires: { type: "string" }, rate: { type: "string" } },
  isFirst: true,
  plan(call) {
    const lifetime = duration(call, "expires");
    const rate = rateIn(call);
    const given = { ...bodyOf(call, FIELDS), ...(rate === undefined ? {} : { rate }) };
    return async (service) => {
      const expires_at = lifetime === undefined ? {} : { expires_at: new Date(Date.now() + lifetime).toISOString() };
      const body = { ...given, ...expires_at };
      const made = await service.ask({ method: "POST", path: pathTo("keys"), body, makes: true });
      tell(made, "made");
      await noteStranger(service, made);
      return 0;
    };
  },
});

/** A key may be made before its device is heard of; but a mistyped one would never work. */
async function noteStranger(service: Service, { device_id }: Item): Promise<void> {
  if (typeof device_id !== "string") return;
  try {
    await service.ask({ method: "GET", path: pathTo("devices", device_id) });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "device_unknown") throw error;
    say(clean(`No device ${device_id} is known yet: the key works for it as soon as it sends.`));
  }
}

const rotate = managing({
  name: "rotate",
  summary: "make a successor, and print its secret",
  usage: "ID [--overlap SPAN]",
  help: "Makes a successor that may do the same, and prints its secret; the old key works for --overlap (24h) longer.",
  example: "key rotate key_… --overlap 7d",
  most: 1,
  flags: { overlap: { type: "string" } },
  plan(call) {
    const id = idIn(call, "key");
    duration(call, "overlap");
    const query = { overlap: text(call, "overlap") };
    return async (service) => {
      const made = await service.ask({ method: "POST", path: pathTo("keys", id, "rotate"), query, unrepeatable: true });
      return tell(made, `made, successor of ${id}`);
    };
  },
});

const revoke = managing({
  name: "revoke",
  summary: "end a key within a second, for good",
  usage: "ID",
  help: "Ends a key within a second, for good.",
  example: "key revoke key_…",
  most: 1,
  plan(call) {
    const id = idIn(call, "key");
    return async (service) => {
      await service.ask({ method: "DELETE", path: pathTo("keys", id) });
      say(`key ${id} is revoked`);
      return 0;
    };
  },
});

/** A creation that had to be sent twice was answered the first time, with the secret, to nobody. */
function tell({ id, name, role, secret }: Item, what: string): number {
  if (typeof secret !== "string") {
    throw new UserError(`key ${clean(String(id))} is made, but its secret was lost on the way here: revoke it, and make another`);
  }
  print(clean(secret));
  say(clean(`key ${id} (${name}, ${role}) ${what}. This is the only time its secret is shown.`));
  return 0;
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const list = managing({
  name: "list",
  summary: "list every key, never its secret",
  usage: "[--limit N] [--json]",
  help: "Lists every key, newest first, never its secret.",
  example: "key list",
  most: 0,
  more: LIST_HELP,
  flags: LIST_FLAGS,
  plan: (call) =>
    listing(call, {
      path: pathTo("keys"),
      query: {},
      none: 'There are no keys yet. Make one: npx tank-monitor key create --name "first"',
      columns: [
        { title: "ID", cell: ({ id }) => String(id) },
        { title: "ROLE", cell: ({ role }) => String(role) },
        { title: "STATE", cell: ({ state }) => String(state) },
        { title: "SEES", cell: ({ customer_id, device_id }) => textOf(customer_id) ?? textOf(device_id) ?? "everything" },
        { title: "RATE", cell: rateOf, right: true },
        { title: "EXPIRES", cell: ({ expires_at }) => textOf(expires_at) ?? "never" },
        { title: "NAME", cell: ({ name }) => String(name), most: 60 },
      ],
    }),
});

/** Where none is set, only the keys of customers have one: the service's default. */
function rateOf({ rate, customer_id }: Item): string {
  if (typeof rate === "number") return `${rate}/s`;
  return customer_id === null ? "none" : "default";
}

function rateIn(call: Call): number | undefined {
  const given = text(call, "rate");
  if (given === undefined) return undefined;
  const rate = /^\d{1,7}(\.\d{1,3})?$/.test(given) ? Number(given) : 0;
  if (rate <= 0 || rate > MAX_RATE) {
    throw new UserError(`--rate must be requests a second above 0, up to ${MAX_RATE}, not ${quoted(given)}`, 2);
  }
  return rate;
}

export const key: Group = {
  name: "key",
  summary: "create, list, rotate and revoke API keys",
  help: WHERE,
  actions: [create, list, rotate, revoke],
};
