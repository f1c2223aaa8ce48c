// Names of the objects that a list has the ids of. Each is requested once; only admins may read users, keys and channels.

import type { Channel } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { useObjects } from "./objects.ts";

type Load = (id: string, options: { readonly signal: AbortSignal }) => Promise<string>;

const LOADERS = {
  user: async (id, options) => (await api.manage.users.retrieve(id, options)).name,
  key: async (id, options) => (await api.manage.keys.retrieve(id, options)).name,
  channel: async (id, options) => channelName(await api.manage.channels.retrieve(id, options)),
  customer: async (id, options) => (await api.manage.customers.retrieve(id, options)).name,
} satisfies Record<string, Load>;

export type Named = { readonly type: keyof typeof LOADERS; readonly id: string };

/** Returns a function that knows the names that are loaded so far; undefined for what does not exist any more. */
export function useNames(objects: readonly Named[]): (id: string) => string | undefined {
  const types = new Map(objects.map(({ type, id }) => [id, type]));
  const names = useObjects("names", [...types.keys()], (id, options) => LOADERS[types.get(id) ?? "user"](id, options));
  return (id) => names.get(id);
}

/** The customer that a key or a channel is limited to. */
export const customerOf = ({ customer_id }: { readonly customer_id: string | null }): readonly Named[] =>
  customer_id === null ? [] : [{ type: "customer", id: customer_id }];

const PREFIXES = { usr_: "user", key_: "key", cus_: "customer" } as const;

/** Who did something, from the audit log. It has no name to load if it is a part of the service, such as "sign-in link". */
export const actorOf = (by: string): readonly Named[] =>
  Object.entries(PREFIXES).flatMap(([prefix, type]) => (by.startsWith(prefix) ? [{ type, id: by }] : []));

type ChannelFields = Pick<Channel, "description" | "url" | "to">;

export const channelName = ({ description, url, to }: ChannelFields): string => description ?? url ?? to ?? "";
