// Names of the objects that a list has the ids of. Each is requested once; only admins may read users, keys and channels.

import type { Channel, User } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { useObjects } from "./objects.ts";

type Options = { readonly signal: AbortSignal };
type Load = (id: string, options: Options) => Promise<string | undefined>;

export type Named = { readonly type: "user" | "key" | "channel" | "customer" | "tank"; readonly id: string };

/** The name of an object, if it is loaded so far; undefined for a channel that does not exist any more. */
export type NameOf = ((id: string) => string | undefined) & { readonly areLoaded: boolean };

export function useNames(objects: readonly Named[]): NameOf {
  const types = new Map(objects.map(({ type, id }) => [id, type]));
  const loaders = createLoaders();
  const names = useObjects("names", [...types.keys()], (id, options) => loaders[types.get(id) ?? "user"](id, options));
  return Object.assign((id: string) => names.get(id), { areLoaded: names.areLoaded });
}

/** Keys, customers and tanks remain readable after they are revoked or deleted. Users and channels do not: a request for one fails. */
function createLoaders(): Readonly<Record<Named["type"], Load>> {
  const existingUser = fromList<User>(api.manage.users.list, ({ name }) => name);
  return {
    user: async (id, options) => (await existingUser(id, options)) ?? removedUser(id, options),
    channel: fromList<Channel>(api.manage.channels.list, channelName),
    key: async (id, options) => (await api.manage.keys.retrieve(id, options)).name,
    customer: async (id, options) => (await api.manage.customers.retrieve(id, options)).name,
    tank: async (id, options) => (await api.manage.tanks.retrieve(id, options)).name,
  };
}

/** The name that the user had, from the audit log: the newest entry is that of the removal. */
async function removedUser(id: string, options: Options): Promise<string | undefined> {
  const { data } = await api.manage.audit.list({ ...options, type: "user", id, size: 1 });
  const { from } = (data[0]?.changes["name"] ?? {}) as { readonly from?: unknown };
  return typeof from === "string" ? `${from} (removed)` : undefined;
}

/** The largest page. There are at most 1000 users and 1000 channels. */
const SIZE = 100;

type List<T> = (options: Options & { readonly size: number }) => AsyncIterable<T>;

/** Ids that are loaded at the same time share the request for the list. */
function fromList<T extends { readonly id: string }>(list: List<T>, nameOf: (object: T) => string): Load {
  let pending: Promise<ReadonlyMap<string, string>> | undefined;
  const loadAll = async (options: Options) => {
    const names = new Map<string, string>();
    for await (const object of list({ ...options, size: SIZE })) names.set(object.id, nameOf(object));
    return names;
  };
  return async (id, options) => {
    pending ??= loadAll(options).finally(() => {
      pending = undefined;
    });
    return (await pending).get(id);
  };
}

/** The customer that a key or a channel is limited to. */
export const customerOf = ({ customer_id }: { readonly customer_id: string | null }): readonly Named[] =>
  customer_id === null ? [] : [{ type: "customer", id: customer_id }];

const PREFIXES = { usr_: "user", key_: "key", cus_: "customer" } as const;

/** Who did something, from the audit log. It has no name to load if it is a part of the service, such as "sign-in link". */
export const actorOf = (by: string): readonly Named[] =>
  Object.entries(PREFIXES).flatMap(([prefix, type]) => (by.startsWith(prefix) ? [{ type, id: by }] : []));

type ChannelFields = Pick<Channel, "description" | "url" | "to">;

export const channelName = ({ description, url, to }: ChannelFields): string =>
  description ?? (url === null ? to : maskedUrl(url)) ?? "";

/** As in the audit log: path and query may contain a secret. */
function maskedUrl(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
