// `MQTT_URL`: where the external broker is, and how to log in there. It holds a password, so no message repeats it.

import { UserError } from "../../domain/errors.ts";

export type BrokerAddress = {
  readonly protocol: "mqtt" | "mqtts";
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** 5, or 4 for MQTT 3.1.1. */
  readonly version: 4 | 5;
  /** Whether several processes share what there is. Each gets everything otherwise. */
  readonly isShared: boolean;
};

const PORTS = { mqtt: 1883, mqtts: 8883 } as const;
const VERSIONS: Readonly<Record<string, 4 | 5>> = { "3.1.1": 4, "5": 5 };

export function brokerAddress(text: string): BrokerAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const protocol = url?.protocol === "mqtt:" ? "mqtt" : url?.protocol === "mqtts:" ? "mqtts" : undefined;
  if (url === undefined || protocol === undefined || url.hostname === "") {
    throw new UserError("MQTT_URL must be mqtt://HOST or mqtts://HOST, with USER:PASSWORD@ where the broker asks for it", 2);
  }
  const { protocol: spoken = "5", shared = "yes", ...rest } = Object.fromEntries(url.searchParams);
  const version = VERSIONS[spoken];
  const isSound = ["yes", "no"].includes(shared) && Object.keys(rest).length === 0 && ["", "/"].includes(url.pathname);
  if (version === undefined || !isSound) {
    throw new UserError("MQTT_URL may end with ?protocol=3.1.1 or ?shared=no, and with nothing else", 2);
  }
  return {
    protocol,
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? PORTS[protocol] : Number(url.port),
    username: decoded(url.username),
    password: decoded(url.password),
    version,
    // There are no shared subscriptions in MQTT 3.1.1.
    isShared: shared === "yes" && version === 5,
  };
}

/** For people: without what is secret. */
export const shownAddress = ({ host, port }: BrokerAddress): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

function decoded(part: string): string | undefined {
  try {
    return part === "" ? undefined : decodeURIComponent(part);
  } catch {
    throw new UserError("MQTT_URL has a % in its user or password that is not an encoded character; % itself is %25", 2);
  }
}
