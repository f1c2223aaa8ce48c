// Ranges of IP addresses.

import { BlockList, isIP } from "node:net";

/** Ranges with a name, which TRUST_PROXY may use. */
const NAMED_RANGES: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};
export const RANGE_NAMES: readonly string[] = Object.keys(NAMED_RANGES);

/** Whether an IP address is in one of these ranges: names, addresses, or addresses with the length of their network. */
export function isInRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges.flatMap((name) => NAMED_RANGES[name] ?? [name])) {
    const [address = "", length] = range.split("/");
    const isV6 = isIP(address) === 6;
    list.addSubnet(address, Number(length ?? (isV6 ? 128 : 32)), isV6 ? "ipv6" : "ipv4");
  }
  return (address) => {
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 6 ? "ipv6" : "ipv4");
  };
}
