// Configuration from flags, the environment and `.env`, in this order of precedence, read once and frozen.
// docs/configuration.md describes every entry; a test compares the two.

import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { parseEnv } from "node:util";
import { isInRanges, RANGE_NAMES } from "./domain/addresses.ts";
import { ALERT_KINDS, type AlertKind } from "./domain/alerts/alert.ts";
import type { AlertSettings } from "./domain/alerts/evaluate.ts";
import { parseWebhookAllow } from "./domain/alerts/webhook-url.ts";
import { UserError } from "./domain/errors.ts";
import { DAY, HOUR, MINUTE, parseDuration } from "./domain/instant.ts";
import { isWellFormedSecret } from "./domain/key.ts";
import type { Mailbox } from "./domain/mail/mail.ts";
import { quoted } from "./domain/text.ts";

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** `name` is that in the environment. Some have a flag, too, of the same name in lower case; only that of TANK_MONITOR_KEY is --key. */
type Setting<N extends string, T> = { readonly name: N; readonly fallback: T; readonly read: (text: string) => T };

function setting<const N extends string, T>(name: N, fallback: NoInfer<T>, read: (text: string) => T): Setting<N, T> {
  return { name, fallback, read };
}

/** A setting that is null where it is not given. */
function optional<const N extends string, T>(name: N, read: (text: string) => T): Setting<N, T | null> {
  return { name, fallback: null, read };
}

const asGiven = (text: string): string => text;
const portNumber = wholeNumber("a port number from 0 to 65535 (0 selects a free port)", 0, 65_535);

export const SETTINGS = {
  databaseUrl: setting("DATABASE_URL", "sqlite:data/tank-monitor.db", databaseUrl),
  /** Streaming replicas of the database, for reading. */
  replicaUrls: setting("DATABASE_REPLICA_URL", [], replicaUrls),
  /** Replicas are checked twice a second, so less than a second could not be measured. */
  replicaLagMs: setting("DATABASE_REPLICA_LAG_MS", 2000, wholeNumber("milliseconds from 1000 to 3600000", 1000, 3_600_000)),
  /** Connections of one process to the PostgreSQL primary. */
  connections: setting("DATABASE_CONNECTIONS", 10, wholeNumber("a number of connections from 2 to 1000", 2, 1000)),
  port: setting("PORT", 8080, portNumber),
  host: setting("HOST", "127.0.0.1", asGiven),
  /** Ports of the embedded MQTT endpoint, plain and with TLS; null is off. */
  mqttPort: optional("MQTT", portNumber),
  mqttsPort: optional("MQTTS", portNumber),
  /** PEM files of the certificate and its private key, for TLS. */
  mqttsCert: optional("MQTTS_CERT", asGiven),
  mqttsKey: optional("MQTTS_KEY", asGiven),
  /** External MQTT broker to subscribe to. */
  mqttUrl: optional("MQTT_URL", mqttUrl),
  /** Number of worker processes. */
  workers: setting("WORKERS", 1, wholeNumber("a number of processes from 1 to 64", 1, 64)),
  logLevel: setting("LOG_LEVEL", "info", logLevel),
  corsOrigins: setting("CORS_ORIGINS", [], origins),
  trustProxy: setting("TRUST_PROXY", false, trustProxy),
  /** Requests per second for a customer's key without a rate of its own; 0 turns all limits off. */
  rateLimit: setting("RATE_LIMIT", 100, wholeNumber("requests a second from 0 (no limits) to 1000000", 0, 1_000_000)),
  /** SMTP server that sends mail, with user and password; its sender; and where links in mail lead, without a slash at the end. */
  smtpUrl: optional("SMTP_URL", smtpUrl),
  mailFrom: optional("MAIL_FROM", mailbox),
  publicUrl: optional("PUBLIC_URL", publicUrl),
  /** The owner of a tank is reminded of an alert that nobody has acknowledged for this long. */
  remindAfterMs: setting("REMIND_AFTER", 3 * DAY, duration("a duration from 1s to 365d, such as 3d", 1000, 365 * DAY)),
  /** Percentage points above its threshold at which a tank is not low any more. */
  alertMargin: setting("ALERT_MARGIN", 3, alertMargin),
  /** Age of the newest reading at which a tank is silent, unless the tank has its own or sends rarely. */
  silentAfterMs: setting("SILENT_AFTER", 48 * HOUR, duration("a duration from 10m to 365d, such as 48h", 10 * MINUTE, 365 * DAY)),
  /** A tank that is expected to be low within this many days has an alert; 0 turns these off. */
  runsLowDays: setting("RUNS_LOW_DAYS", 7, wholeNumber("days from 1 to 90, or 0 (no such alerts)", 0, 90)),
  /** Whether a tank whose use is far above normal has an alert. */
  leakAlerts: setting("LEAK_ALERTS", true, onOrOff),
  /** The kinds of alerts that owners get mail about. */
  ownerKinds: setting("OWNER_ALERTS", ["low"], alertKinds),
  /** Hosts and networks that webhooks may be sent to besides public addresses, also without TLS. */
  webhookAllow: setting("WEBHOOK_ALLOW", [], parseWebhookAllow),
  /** The key for commands that work on a running service. */
  key: optional("TANK_MONITOR_KEY", secretKey),
};

export type Config = { readonly [F in keyof typeof SETTINGS]: (typeof SETTINGS)[F]["fallback"] };
export type ConfigName = (typeof SETTINGS)[keyof typeof SETTINGS]["name"];
export type Variables = Readonly<Record<string, string | undefined>>;

/** The invalid value may contain a password, so the message does not repeat it. */
class SecretError extends Error {}

export function readConfig(flags: Variables, environment: Variables, envFile: Variables): Config {
  function settingValue({ name, fallback, read }: Setting<string, unknown>): unknown {
    const flag = flags[name];
    const text = flag ?? (environment[name] || envFile[name] || undefined);
    if (text === undefined) return fallback;
    try {
      return read(text);
    } catch (error) {
      const label = flag === undefined ? name : `--${name.toLowerCase()}`;
      const given = error instanceof SecretError ? "" : `, not ${quoted(text)}`;
      throw new UserError(`${label} must be ${(error as Error).message}${given}`, 2);
    }
  }
  return Object.freeze(
    Object.fromEntries(Object.entries(SETTINGS).map(([field, entry]) => [field, settingValue(entry)])),
  ) as Config;
}

/** The settings without which no mail is sent, of those that are missing. */
export function missingForMail({ smtpUrl, mailFrom, publicUrl }: Config): readonly string[] {
  const needed = { SMTP_URL: smtpUrl, MAIL_FROM: mailFrom, PUBLIC_URL: publicUrl };
  return Object.entries(needed).flatMap(([name, value]) => (value === null ? [name] : []));
}

/** The settings that ManagementService needs. */
export function managementSettings(config: Config) {
  const { webhookAllow, publicUrl, silentAfterMs: silentAfter } = config;
  return { webhookAllow, missingForMail: missingForMail(config), publicUrl, silentAfter };
}

/** The settings that the store needs. */
export function storeSettings({ connections, replicaUrls, replicaLagMs, ...config }: Config) {
  const { alertMargin: closeMargin, silentAfterMs: silentAfter, remindAfterMs: remindAfter } = config;
  const { runsLowDays, leakAlerts, ownerKinds } = config;
  const alerts: AlertSettings = { closeMargin, silentAfter, remindAfter, runsLowDays, leakAlerts, ownerKinds };
  return { connections, replicaUrls, replicaLagMs, alerts };
}

/** The `.env` of the working directory, where there is one. */
export function readEnvFile(file?: string): Variables {
  return { ...parseEnv(readEnvText(file)) };
}

export function readEnvText(file = ".env"): string {
  try {
    return readFileSync(file, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
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

/** All else is checked by the database's own code, which has the better messages. */
function databaseUrl(text: string): string {
  if (/^postgres(ql)?:\/*$/.test(text)) {
    throw new Error(
      "a file, such as sqlite:data/tank-monitor.db, or an address, such as postgres://USER:PASSWORD@HOST:5432/DATABASE",
    );
  }
  return text;
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

/** The query has only what can be configured safely: nodemailer's own URLs could turn certificate checks off, or log passwords. */
function smtpUrl(text: string): string {
  const url = URL.parse(text);
  const isServer = url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== "" && /^\/?$/.test(url.pathname);
  const options = [...(url?.searchParams ?? [])];
  if (!isServer || url.hash !== "" || !options.every(([name, value]) => SMTP_OPTIONS.has(name) && /^(true|false)$/.test(value))) {
    throw new SecretError(
      "the URL of a mail server, such as smtp://user:password@host:587 or smtps://host:465; it may end with ?requireTLS= or ?ignoreTLS= and true or false",
    );
  }
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    throw new SecretError("a URL whose user and password are percent-encoded: % is written %25");
  }
  return text;
}

const SMTP_OPTIONS: ReadonlySet<string> = new Set(["requireTLS", "ignoreTLS"]);

/** The domain in ASCII, because not every mail server accepts others. */
function mailbox(text: string): Mailbox {
  const [, named, inBrackets, bare] = /^(?:([^<>]*)<([^<>]*)>|([^<>]*))$/.exec(text.trim()) ?? [];
  const name = (named ?? "").trim().replace(/^"(.*)"$/, "$1");
  const [, local, domain = ""] = /^([\w.!#$%&'*+/=?^`{|}~-]{1,64})@([^\s@]+)$/.exec(inBrackets ?? bare ?? "") ?? [];
  const ascii = /^[\p{L}\p{M}\p{N}.-]+$/u.test(domain) ? domainToASCII(domain) : "";
  if (local === undefined || ascii === "" || ascii.length > 253 || name.length > 100 || /[\p{Cc}\p{Cf}]/u.test(text)) {
    throw new Error("an e-mail address, alone or as NAME <ADDRESS>");
  }
  return { name: name === "" ? null : name, address: `${local}@${ascii}` };
}

function publicUrl(text: string): string {
  const url = URL.parse(text);
  const isSafe = url !== null && (url.protocol === "https:" || (url.protocol === "http:" && isPrivateHost(url.hostname)));
  if (!isSafe || url.username !== "" || url.password !== "" || /[?#]/.test(text)) {
    throw new Error(
      "an https URL without user and query, such as https://tanks.example.com (http for loopback and private hosts only)",
    );
  }
  return url.href.replace(/\/+$/, "");
}

/** Private addresses, and names that no public DNS has. */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return isInRanges(RANGE_NAMES)(host);
  return !host.includes(".") || /\.(localhost|local|internal|lan|home\.arpa)$/.test(host);
}

function duration(wording: string, minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = parseDuration(text);
    if (value === undefined || value < minimum || value > maximum) throw new Error(wording);
    return value;
  };
}

function alertMargin(text: string): number {
  const value = /^\d{1,2}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value <= 0 || value > 50) throw new Error("percentage points, more than 0 and up to 50");
  return value;
}

function onOrOff(text: string): boolean {
  if (text !== "on" && text !== "off") throw new Error("on or off");
  return text === "on";
}

function alertKinds(text: string): readonly AlertKind[] {
  const names = text.split(",").map((name) => name.trim());
  const kinds = ALERT_KINDS.filter((kind) => names.includes(kind));
  const isNone = names.length === 1 && names[0] === "none";
  if (!isNone && !names.every((name) => kinds.some((kind) => kind === name))) {
    throw new Error(`kinds of alerts (${ALERT_KINDS.join(", ")}), separated by commas, or none`);
  }
  return kinds;
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
  if (text.trim() === "*") return ["*"];
  const list = text.split(",").map((origin) => origin.trim());
  for (const origin of list) {
    if (origin.includes("*") || !URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new Error('"*" by itself, or whole origins such as https://app.example.com, separated by commas');
    }
  }
  return list;
}

function trustProxy(text: string): false | number | readonly string[] {
  if (text === "false") return false;
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const list = text.split(",").map((address) => address.trim());
  if (!list.every((address) => RANGE_NAMES.includes(address) || isAddressRange(address))) {
    throw new Error("false, a number of hops (1 for one proxy), or addresses of proxies such as 10.0.0.0/8, separated by commas");
  }
  return list;
}

/** An address, or one with the length of its network: 10.0.0.0/8. */
function isAddressRange(text: string): boolean {
  const [address = "", length, ...more] = text.split("/");
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)];
  if (!bits || more.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) >= 1 && Number(length) <= bits);
}
