// Where webhooks may be sent. Whoever can create a channel must not be able to reach what only this machine can reach, so one rule
// holds for creating, testing and sending: public addresses over https, and what the operator has opened with WEBHOOK_ALLOW.

import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";

export const URL_MAX_LENGTH = 2048;

/** What WEBHOOK_ALLOW permits. Plain data, because the configuration is sent to worker processes. */
export type WebhookAllow = readonly (AllowedHost | AllowedNetwork)[];
type AllowedHost = { readonly host: string };
type AllowedNetwork = { readonly network: string; readonly length: number };

/** Whether an address is in a list. */
type Addresses = (address: string) => boolean;

/** Cloud metadata services, and IPv6 forms that embed an IPv4 address. WEBHOOK_ALLOW cannot permit these. */
const isNeverAllowed = addresses(
  "169.254.0.0/16", // link-local: the metadata services of most providers
  "100.100.100.200", // metadata, Alibaba
  "168.63.129.16", // host agent, Azure
  "192.0.0.192", // metadata, Oracle
  "fd00:ec2::/32", // metadata, AWS
  "fd20:ce::254", // metadata, Google
  "fd00:42::42", // metadata, Scaleway
  "fd00:c1::a9fe:a9fe", // metadata, Oracle
  "fe80::/10", // link-local: metadata of OpenStack
  "::2-::ffff:ffff", // IPv4-compatible
  "::ffff:0:0/96", // IPv4-mapped
  "::ffff:0:0:0/96", // IPv4-translated
  "64:ff9b:1::/48", // NAT64, local use
  "2001::/32", // Teredo
  "2002::/16", // 6to4
);

/** All that is not a public unicast address. */
const isNotPublic = addresses(
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
  // All but 2000::/3: unspecified, loopback, NAT64, discard-only, unique-local, link-local, site-local, multicast, unassigned.
  "::/3",
  "4000::/2",
  "8000::/1",
  "2001::/23", // protocol assignments, benchmarking
  "2001:db8::/32", // documentation
  "3fff::/20", // documentation
);

/** The only NAT64 prefix that can be opened, for networks without IPv4. The IPv4 address inside must be permitted as well. */
const isNat64 = addresses("64:ff9b::/96");

/** A name or an address from WEBHOOK_ALLOW, such as `hooks.example.internal`, `10.0.0.0/8` or `::1`. The error says what it must be. */
export function parseWebhookAllow(text: string): WebhookAllow {
  return text.split(",").map((entry) => {
    const allowed = parseNetwork(entry.trim()) ?? parseHost(entry.trim());
    if (allowed === undefined) {
      throw new Error("hosts and networks such as hooks.example.internal, 10.0.0.0/8 or ::1, separated by commas");
    }
    return allowed;
  });
}

function parseNetwork(text: string): AllowedNetwork | undefined {
  const [address = "", length, ...more] = text.replace(/^\[(.*)\]$/, "$1").split("/");
  const bits = address.includes("%") ? 0 : { 0: 0, 4: 32, 6: 128 }[isIP(address)];
  if (!bits || more.length > 0) return undefined;
  if (length === undefined) return { network: address, length: bits };
  return /^\d{1,3}$/.test(length) && Number(length) <= bits ? { network: address, length: Number(length) } : undefined;
}

function parseHost(text: string): AllowedHost | undefined {
  if (!/^[^\s/\\?#@:*[\]%]+$/.test(text) || !URL.canParse(`https://${text}`)) return undefined;
  const { hostname } = new URL(`https://${text}`);
  return isIPv4(hostname) ? undefined : { host: withoutDot(hostname) };
}

const NOT_A_URL = 'must be a URL such as "https://example.com/hooks/tanks"';

/** What is wrong with the URL of a webhook. Names are checked again when they are resolved: see `mayConnectTo`. */
export function errorInWebhookUrl(text: string, allow: WebhookAllow): string | undefined {
  if (text.length > URL_MAX_LENGTH) return `must have at most ${URL_MAX_LENGTH} characters`;
  // The parser accepts much more than people write (spaces, backslashes, missing slashes): that could be read in two ways.
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(text) ?? [];
  if (authority === undefined || /[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) return NOT_A_URL;
  if (authority.includes("@")) return "must not contain a user name or password";
  const { protocol, hostname } = new URL(text);
  // No name has an empty part.
  if (withoutDot(hostname).split(".").includes("")) return NOT_A_URL;
  // 2130706433, 0x7f.1, 0177.0.0.1, 127.1 and full-width digits are all parsed as 127.0.0.1.
  if (isIPv4(hostname) && authority.replace(/:\d*$/, "") !== hostname) {
    return "must have a name as its host, an IPv4 address in the form 192.0.2.1, or an IPv6 address in brackets";
  }
  const address = literalIn(hostname);
  if (address !== undefined && !mayConnectTo(address, hostname, allow)) {
    return [address, ...innerAddress(address)].some(isNeverAllowed)
      ? `must not be at ${address}, which is never allowed`
      : `must not be at ${address}, which is not a public address: ${howToAllow([address, ...innerAddress(address).filter(isNotPublic)].join(","), allow)}`;
  }
  const isPermitted = address === undefined ? isAllowedHost(hostname, allow) : isInAllowedNetwork(address, allow);
  if (isPermitted) return undefined;
  if (/^(.*\.)?localhost$/.test(withoutDot(hostname)))
    return `must not be at localhost: ${howToAllow(withoutDot(hostname), allow)}`;
  return protocol === "https:"
    ? undefined
    : "must begin with https://: http is only for hosts and addresses that WEBHOOK_ALLOW permits";
}

/** `entries`: of WEBHOOK_ALLOW. A name must be there as it is: its address does not permit it. */
function howToAllow(entries: string, allow: WebhookAllow): string {
  const setting =
    allow.length === 0 ? `set WEBHOOK_ALLOW=${entries} for the service` : `add ${entries} to WEBHOOK_ALLOW of the service`;
  return `${setting}, and restart it`;
}

/** Whether a webhook for `host` may be sent to `address`, to which it was resolved or which it is. */
export function mayConnectTo(address: string, host: string, allow: WebhookAllow): boolean {
  // An address with a zone is link-local.
  if (isIP(address) === 0 || address.includes("%") || isNeverAllowed(address)) return false;
  const [inner] = innerAddress(address);
  if (isAllowedHost(host, allow)) return inner === undefined || !isNeverAllowed(inner);
  if (isNotPublic(address) && !isInAllowedNetwork(address, allow)) return false;
  return inner === undefined || mayConnectTo(inner, host, allow);
}

/** The IPv4 address in one of NAT64, or none. */
const innerAddress = (address: string): readonly string[] => (isNat64(address) ? [lastFourBytes(address)] : []);

/** Scheme, host and port, for logs and audit entries: path and query may contain a secret. */
export function maskedUrl(url: string): string {
  if (!URL.canParse(url)) return "";
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/** The address, if the host of a parsed URL is one. */
function literalIn(hostname: string): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(address) === 0 ? undefined : address;
}

const withoutDot = (name: string): string => name.toLowerCase().replace(/\.$/, "");

function isAllowedHost(host: string, allow: WebhookAllow): boolean {
  return allow.some((entry) => "host" in entry && entry.host === withoutDot(host));
}

/** Built once for each setting: it is checked before each webhook, and takes longer to build than to search. */
const allowedNetworks = new WeakMap<WebhookAllow, Addresses>();

function isInAllowedNetwork(address: string, allow: WebhookAllow): boolean {
  const known = allowedNetworks.get(allow);
  if (known !== undefined) return known(address);
  const networks = addresses(...allow.flatMap((entry) => ("network" in entry ? [`${entry.network}/${entry.length}`] : [])));
  allowedNetworks.set(allow, networks);
  return networks(address);
}

/** From addresses, networks and ranges. The lists are built when they are first used: most processes and threads send no webhooks. */
function addresses(...entries: readonly string[]): Addresses {
  let lists: Lists | undefined;
  return (address) => {
    lists ??= listsOf(entries);
    return isIPv6(address) ? lists[6].check(address, "ipv6") : lists[4].check(address, "ipv4");
  };
}

/** A list for each family: a `BlockList` would apply the IPv6 networks to IPv4 addresses, too. */
type Lists = { readonly 4: BlockList; readonly 6: BlockList };

function listsOf(entries: readonly string[]): Lists {
  const lists: Lists = { 4: new BlockList(), 6: new BlockList() };
  for (const entry of entries) {
    const [first = "", rest = ""] = entry.split(/[/-]/);
    const [list, family] = isIPv6(first) ? ([lists[6], "ipv6"] as const) : ([lists[4], "ipv4"] as const);
    if (entry.includes("/")) list.addSubnet(first, Number(rest), family);
    else if (entry.includes("-")) list.addRange(first, rest, family);
    else list.addAddress(first, family);
  }
  return lists;
}

/** The last four bytes of an IPv6 address, as an IPv4 address. */
function lastFourBytes(address: string): string {
  // The URL parser writes the last groups in hexadecimal, even if they were given in decimal.
  const groups = new URL(`https://[${address}]`).hostname.slice(1, -1).split(":").slice(-2);
  return groups
    .map((group) => Number.parseInt(group || "0", 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join(".");
}

/** The rest of a URL may be secret. */
export const hostOf = (url: string | null): string | null => (url === null ? null : (URL.parse(url)?.host ?? null));
