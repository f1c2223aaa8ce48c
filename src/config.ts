// Configuration from flags, the environment and `.env`, in this order of precedence, read once and frozen.
// docs/configuration.md describes every entry; a test compares the two.

import { readFileSync } from "node:fs";
import { isIPv4, isIPv6 } from "node:net";
import { parseEnv } from "node:util";
import { UserError } from "./domain/errors.ts";
import { isWellFormedSecret } from "./domain/key.ts";
import { quoted } from "./domain/text.ts";

export type TrustProxy = boolean | number | readonly string[];

export type Config = {
  readonly databaseUrl: string;
  /** Streaming replicas of the database, for reading. */
  readonly replicaUrls: readonly string[];
  readonly replicaLagMs: number;
  /** Connections of one process to the PostgreSQL primary. */
  readonly connections: number;
  readonly port: number;
  readonly host: string;
  /** Ports of the embedded MQTT endpoint, plain and with TLS; null is off. */
  readonly mqttPort: number | null;
  readonly mqttsPort: number | null;
  /** PEM files of the certificate and its private key, for TLS. */
  readonly mqttsCert: string | null;
  readonly mqttsKey: string | null;
  /** External MQTT broker to subscribe to, if any. */
  readonly mqttUrl: string | null;
  /** Processes that serve. */
  readonly workers: number;
  readonly logLevel: LogLevel;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: TrustProxy;
  /** Requests per second for a customer's key without a rate of its own; 0 turns all limits off. */
  readonly rateLimit: number;
  /** For commands that work on a running service. */
  readonly key: string | null;
};

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Entry<T> = { readonly fallback: T; read(text: string): T };

const portNumber = wholeNumber("a port number from 0 to 65535 (0 takes any free one)", 0, 65_535);

/** Named as in the environment; a command's flag has the same name in lower case. */
export const ENTRIES = {
  DATABASE_URL: { fallback: "sqlite:data/tank-monitor.db", read: (text: string) => text },
  DATABASE_REPLICA_URL: { fallback: [] as readonly string[], read: replicaUrls },
  // Replicas are checked twice a second, so less than a second could not be measured.
  DATABASE_REPLICA_LAG_MS: { fallback: 2000, read: wholeNumber("milliseconds from 1000 to 3600000", 1000, 3_600_000) },
  DATABASE_CONNECTIONS: { fallback: 10, read: wholeNumber("a number of connections from 2 to 1000", 2, 1000) },
  PORT: { fallback: 8080, read: portNumber },
  HOST: { fallback: "127.0.0.1", read: (text: string) => text },
  MQTT: { fallback: null as number | null, read: portNumber },
  MQTTS: { fallback: null as number | null, read: portNumber },
  MQTTS_CERT: { fallback: null as string | null, read: (text: string) => text },
  MQTTS_KEY: { fallback: null as string | null, read: (text: string) => text },
  MQTT_URL: { fallback: null as string | null, read: mqttUrl },
  WORKERS: { fallback: 1, read: wholeNumber("a number of processes from 1 to 64", 1, 64) },
  LOG_LEVEL: { fallback: "info" as LogLevel, read: logLevel },
  CORS_ORIGINS: { fallback: [] as readonly string[], read: origins },
  TRUST_PROXY: { fallback: false as TrustProxy, read: trustProxy },
  RATE_LIMIT: { fallback: 100, read: wholeNumber("requests a second from 0 (no limits) to 1000000", 0, 1_000_000) },
  TANK_MONITOR_KEY: { fallback: null as string | null, read: secretKey },
} satisfies Record<string, Entry<unknown>>;

/** The invalid value may contain a password, so the message does not repeat it. */
class SecretError extends Error {}

export type ConfigName = keyof typeof ENTRIES;
export type Given = Readonly<Record<string, string | undefined>>;

export function readConfig(flags: Given, environment: Given, envFile: Given): Config {
  function value<N extends ConfigName>(name: N): (typeof ENTRIES)[N]["fallback"] {
    for (const [source, where] of [
      [flags, "flag"],
      [environment, "environment"],
      [envFile, ".env"],
    ] as const) {
      const text = source[name];
      if (text === undefined || (text === "" && source !== flags)) continue;
      try {
        return ENTRIES[name].read(text) as (typeof ENTRIES)[N]["fallback"];
      } catch (error) {
        const label = where === "flag" ? `--${name.toLowerCase()}` : name;
        const given = error instanceof SecretError ? "" : `, not ${quoted(text)}`;
        throw new UserError(`${label} must be ${(error as Error).message}${given}`, 2);
      }
    }
    return ENTRIES[name].fallback;
  }
  return Object.freeze({
    databaseUrl: value("DATABASE_URL"),
    replicaUrls: value("DATABASE_REPLICA_URL"),
    replicaLagMs: value("DATABASE_REPLICA_LAG_MS"),
    connections: value("DATABASE_CONNECTIONS"),
    port: value("PORT"),
    host: value("HOST"),
    mqttPort: value("MQTT"),
    mqttsPort: value("MQTTS"),
    mqttsCert: value("MQTTS_CERT"),
    mqttsKey: value("MQTTS_KEY"),
    mqttUrl: value("MQTT_URL"),
    workers: value("WORKERS"),
    logLevel: value("LOG_LEVEL"),
    corsOrigins: value("CORS_ORIGINS"),
    trustProxy: value("TRUST_PROXY"),
    rateLimit: value("RATE_LIMIT"),
    key: value("TANK_MONITOR_KEY"),
  });
}

/** The `.env` of the working directory, where there is one. */
export function readEnvFile(file = ".env"): Given {
  try {
    return parseEnv(readFileSync(file, "utf8").replace(/^\ufeff/, ""));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new UserError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function wholeNumber(wording: string, minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= minimum && value <= maximum)) throw new Error(wording);
    return value;
  };
}

function replicaUrls(text: string): readonly string[] {
  const urls = text.split(",").map((url) => url.trim());
  if (!urls.every((url) => /^postgres(ql)?:/.test(url) && URL.canParse(url))) {
    throw new SecretError("postgres:// URLs, separated by commas");
  }
  return urls;
}

function mqttUrl(text: string): string {
  if (!/^mqtts?:\/\//.test(text) || !URL.canParse(text)) {
    throw new SecretError("the URL of a broker, such as mqtt://user:password@host:1883 or mqtts://host:8883");
  }
  return text;
}

function secretKey(text: string): string {
  if (!isWellFormedSecret(text)) throw new SecretError('a whole key, as "key create" prints it');
  return text;
}

function logLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text.toLowerCase());
  if (level === undefined) throw new Error(`one of ${LOG_LEVELS.join(", ")}`);
  return level;
}

function origins(text: string): readonly string[] {
  const list = text.split(",").map((origin) => origin.trim());
  for (const origin of list) {
    if (origin !== "*" && (!URL.canParse(origin) || new URL(origin).origin !== origin)) {
      throw new Error('"*" or origins such as https://app.example.com, separated by commas');
    }
  }
  return list;
}

function trustProxy(text: string): TrustProxy {
  if (text === "true" || text === "false") return text === "true";
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const list = text.split(",").map((address) => address.trim());
  if (!list.every((address) => NAMED_RANGES.includes(address) || isAddressRange(address))) {
    throw new Error("true, false, a number of hops, or addresses such as 10.0.0.0/8, separated by commas");
  }
  return list;
}

/** An address, or one with the length of its network: 10.0.0.0/8. */
function isAddressRange(text: string): boolean {
  const [address = "", length, ...more] = text.split("/");
  const bits = isIPv4(address) ? 32 : isIPv6(address) ? 128 : undefined;
  if (bits === undefined || more.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) >= 1 && Number(length) <= bits);
}

const NAMED_RANGES = ["loopback", "linklocal", "uniquelocal"];
