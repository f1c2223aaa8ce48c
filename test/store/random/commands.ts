// Random commands of an operator: on few objects and devices, so that they meet; some of them invalid.

import type { Command } from "../../../src/domain/commands/command.ts";
import type { Random } from "../../../src/simulate/random.ts";
import { command } from "../../support/commands.ts";
import { key } from "../conformance/objects.ts";

export const CUSTOMERS = ["cus-1", "cus-2", "Cus-2", "é", "\ufffd", "😀"];
export const TANKS = ["t1", "t2", "t3", "t4", "T4", "t4 ", "\ue000", "\u{10000}"];
/** Some differ in case only: an EUI-64 is one device then, another id is two. */
export const DEVICES = ["d1", "d2", "d3", "D3", "0011223344aabbcc", "0011223344AABBCC", "ffeeddccbbaa0099", "d%_", "é1", "d9"];
export const NAMES = ["Alpha", "alp", "ALPINE", "Ärger", "ärger", "b%r", "b_r", "b\\r", "bErn", "z\u{10ffff}x", "Zoo", "'; --"];
export const EMAILS = ["many@x.example", "Many@x.example", "é@x.example", "e\u0301@x.example", "a%@x.example"];

const SHAPES = [
  null,
  { kind: "upright", unit: "m", height: 2, sensor_height: 2.2 },
  { kind: "rectangular", unit: "cm", height: 150 },
  { kind: "horizontal_cylinder", unit: "m", diameter: 2 },
  { kind: "upright", unit: "furlong", height: 2 },
];
const ALERTS = [
  {},
  { silent_after: "72h" },
  { silent_after: "90m", paused_until: "2026-06-01T12:00:00Z" },
  { silent_after: null, paused_until: null },
  { runs_low_soon: false, leak: true },
  { leak: null },
  { silent_after: "9m" },
];
const PROFILES = [
  null,
  "milesight-em500-udl",
  "no-such-profile",
  { value: "level", measures: "level", unit: "cm" },
  { value: "p", measures: "percent" },
];

type Fields = Record<string, unknown>;
type CommandContext = { readonly random: Random; readonly number: number; readonly ifMatch: string | undefined };

/** Each field with a chance of its own. */
function someOf(random: Random, fields: Record<string, () => unknown>): Fields {
  const chosen = Object.entries(fields).filter(() => random.chance(0.5));
  return Object.fromEntries(chosen.map(([name, value]) => [name, value()]));
}

const customerFields = (random: Random): Fields =>
  someOf(random, {
    name: () => random.pick([...NAMES, ""]),
    email: () => random.pick(EMAILS),
    phone: () => random.pick([null, "123"]),
    is_verified: () => random.chance(0.5),
    notifications: () => ({
      language: random.pick([null, "de"]),
      unsubscribed_at: random.pick([null, "2026-01-02T00:00:00Z"]),
    }),
  });

const tankFields = (random: Random): Fields =>
  someOf(random, {
    name: () => random.pick(NAMES),
    assigned_device_id: () => random.pick(DEVICES),
    min_fill_alert_percentage: () => random.whole(0, 100),
    owner_id: () => random.pick([...CUSTOMERS, ...CUSTOMERS, "nobody"]),
    custom_id: () => random.pick([null, ...NAMES]),
    location: () => ({ city: random.pick([null, ...NAMES]) }),
    shape: () => random.pick(SHAPES),
    alerts: () => random.pick(ALERTS),
  });

const newTankFields = (random: Random): Fields => ({
  id: random.pick(TANKS),
  name: "Tank",
  assigned_device_id: random.pick(DEVICES),
  capacity: 1000,
  capacity_unit: "liters",
  min_fill_alert_percentage: 20,
  owner_id: random.pick(CUSTOMERS),
  ...tankFields(random),
});

const recentKey = ({ random, number }: CommandContext): string => `key-${random.whole(Math.max(0, number - 30), number)}`;

/** How often each kind of command is chosen, and how it is made. */
const COMMANDS: Readonly<Record<Command["type"], readonly [weight: number, make: (context: CommandContext) => Command]>> = {
  create_customer: [
    2,
    ({ random, number }) => {
      const fields = { id: random.pick(CUSTOMERS), name: random.pick(NAMES), email: "a@b.example", ...customerFields(random) };
      return { type: "create_customer", newId: `cus-${number}`, fields };
    },
  ],
  change_customer: [
    2,
    ({ random, ifMatch }) => {
      return { type: "change_customer", id: random.pick(CUSTOMERS), fields: customerFields(random), ifMatch };
    },
  ],
  delete_customer: [
    1,
    ({ random, ifMatch }) => ({ type: "delete_customer", id: random.pick(CUSTOMERS), tanks: random.chance(0.6), ifMatch }),
  ],
  restore_customer: [
    2,
    ({ random, ifMatch }) => ({ type: "restore_customer", id: random.pick(CUSTOMERS), tanks: random.chance(0.6), ifMatch }),
  ],
  create_tank: [4, ({ random, number }) => ({ type: "create_tank", newId: `tank-${number}`, fields: newTankFields(random) })],
  change_tank: [
    5,
    ({ random, ifMatch }) => {
      return { type: "change_tank", id: random.pick(TANKS), fields: tankFields(random), ifMatch, swap: random.chance(0.5) };
    },
  ],
  delete_tank: [1, ({ random, ifMatch }) => ({ type: "delete_tank", id: random.pick(TANKS), ifMatch })],
  restore_tank: [
    3,
    ({ random, ifMatch }) => {
      const fields = random.chance(0.5) ? undefined : { assigned_device_id: random.pick(DEVICES) };
      return { type: "restore_tank", id: random.pick(TANKS), fields, ifMatch };
    },
  ],
  put_device: [
    6,
    ({ random, ifMatch }) => {
      const fields = someOf(random, {
        tank_id: () => random.pick(TANKS),
        profile: () => random.pick(PROFILES),
        shape: () => random.pick(SHAPES),
      });
      return { type: "put_device", id: random.pick(DEVICES), fields, ifMatch, swap: random.chance(0.5) };
    },
  ],
  remove_device: [1, ({ random, ifMatch }) => ({ type: "remove_device", id: random.pick(DEVICES), ifMatch })],
  create_key: [
    2,
    ({ random, number }) => {
      const fields = { customer_id: random.pick([null, ...CUSTOMERS]), expires_at: random.pick([null, 9e12]) };
      return command.createKey(key(`key-${number}`, fields), `hash ${number}`);
    },
  ],
  rotate_key: [
    1,
    (context) => {
      const { number } = context;
      return { type: "rotate_key", id: recentKey(context), overlap: 1000, newId: `key-${number}`, hash: `hash ${number}` };
    },
  ],
  change_key: [
    1,
    (context) => ({ type: "change_key", id: recentKey(context), fields: { name: "other" }, ifMatch: context.ifMatch }),
  ],
  revoke_key: [1, (context) => ({ type: "revoke_key", id: recentKey(context) })],
  // Ids of alerts are random: those that exist are in the tests of alerts.
  change_alert: [1, ({ ifMatch }) => ({ type: "change_alert", id: "alr-none", fields: { note: null }, ifMatch })],
  acknowledge_alert: [1, ({ ifMatch }) => ({ type: "acknowledge_alert", id: "alr-none", fields: {}, by: "key", ifMatch })],
  close_alert: [1, ({ ifMatch }) => ({ type: "close_alert", id: "alr-none", fields: {}, ifMatch })],
  create_channel: [
    1,
    ({ random, number }) => {
      const fields = {
        type: random.pick(["webhook", "email", "pigeon"]),
        ...someOf(random, {
          url: () => random.pick(["https://hooks.example.com/tanks", "https://127.0.0.1/"]),
          to: () => random.pick(EMAILS),
          customer_id: () => random.pick([null, ...CUSTOMERS]),
          delay: () => random.pick([null, "4h", "31d"]),
        }),
      };
      return { type: "create_channel", newId: `chn-${number}`, fields, secret: "whsec_", webhookAllow: [] };
    },
  ],
  // The model has no channels: what happens to them is in test/store/channels.test.ts.
  change_channel: [1, ({ ifMatch }) => ({ type: "change_channel", id: "none", fields: {}, ifMatch, webhookAllow: [] })],
  delete_channel: [1, ({ ifMatch }) => ({ type: "delete_channel", id: "none", ifMatch })],
  rotate_channel: [1, () => ({ type: "rotate_channel", id: "none", overlap: 1000, secret: "whsec_" })],
  test_channel: [1, ({ number }) => ({ type: "test_channel", id: "none", newId: `msg-${number}` })],
  recover_channel: [1, () => ({ type: "recover_channel", id: "none", fields: {}, failedBy: 0 })],
  recover_mail: [1, () => ({ type: "recover_mail", fields: {}, failedBy: 0 })],
  retry_notification: [1, () => ({ type: "retry_notification", id: "none" })],
  // Customers that there are none of: the model sends nothing.
  request_verification: [
    1,
    ({ number }) => ({ type: "request_verification", id: "none", newId: `msg-${number}`, publicUrl: "https://x.example" }),
  ],
  verify_customer: [1, () => ({ type: "verify_customer", hash: "none" })],
  // The model has no users: what happens to them is in test/store/accounts.test.ts.
  create_user: [1, ({ number }) => ({ type: "create_user", newId: `usr-${number}`, fields: { role: "driver" } })],
  change_user: [1, ({ ifMatch }) => ({ type: "change_user", id: "none", fields: {}, ifMatch })],
  remove_user: [1, ({ ifMatch }) => ({ type: "remove_user", id: "none", ifMatch })],
  create_sign_in_link: [1, () => ({ type: "create_sign_in_link", account: { type: "user", id: "none" }, hash: "h" })],
  request_sign_in: [
    1,
    ({ number }) => ({
      type: "request_sign_in",
      email: `nobody-${number}@none.example`,
      browser: "b",
      secrets: [{ hash: `h${number}`, code: "c" }],
    }),
  ],
  sign_in: [
    1,
    ({ number }) => ({
      ...{ type: "sign_in", proof: { token: "none" }, account: undefined, newId: `ses-${number}`, hash: `s${number}` },
      ...{ userAgent: null, replaces: undefined },
    }),
  ],
  end_session: [1, () => ({ type: "end_session", id: "none" })],
  provision: [
    2,
    ({ random, number }) => ({
      type: "provision",
      isDryRun: random.chance(0.2),
      customers: [{ newId: `cus-${number}`, fields: { id: random.pick(CUSTOMERS), ...customerFields(random) } }],
      tanks: [0, 1].map((i) => ({ newId: `tank-${number}-${i}`, fields: newTankFields(random) })),
    }),
  ],
};

export const COMMAND_TYPES = Object.keys(COMMANDS) as readonly Command["type"][];

/** `number` makes new ids unique; `etags` are of objects that were returned recently; without them there is no If-Match. */
export function randomCommand(
  random: Random,
  number: number,
  etags: readonly string[] | undefined,
  types = COMMAND_TYPES,
): Command {
  const makers = types.flatMap((type) => Array.from({ length: COMMANDS[type][0] }, () => COMMANDS[type][1]));
  const ifMatch = etags !== undefined && random.chance(0.15) ? random.pick(["*", '"nonsense"', ...etags]) : undefined;
  return random.pick(makers)({ random, number, ifMatch });
}
