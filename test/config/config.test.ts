import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { type Config, readConfig, readEnvFile, SETTINGS, type Variables } from "../../src/config.ts";
import { UserError } from "../../src/domain/errors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const fromEnvironment = (environment: Variables): Config => readConfig({}, environment, {});

function errorOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    assert.equal(error.exitCode, 2);
    assert.doesNotMatch(error.message, /[\n\r]/, "one line");
    return error.message;
  }
  return "no error";
}

test("without settings the configuration has its defaults, and is frozen", () => {
  assert.ok(Object.isFrozen(fromEnvironment({})));
  assert.deepEqual(fromEnvironment({}), {
    databaseUrl: "sqlite:data/tank-monitor.db",
    replicaUrls: [],
    replicaLagMs: 2000,
    connections: 10,
    port: 8080,
    host: "127.0.0.1",
    mqttPort: null,
    mqttsPort: null,
    mqttsCert: null,
    mqttsKey: null,
    mqttUrl: null,
    workers: 1,
    logLevel: "info",
    corsOrigins: [],
    trustProxy: false,
    rateLimit: 100,
    smtpUrl: null,
    mailFrom: null,
    publicUrl: null,
    remindAfterMs: 3 * 86_400_000,
    alertMargin: 3,
    silentAfterMs: 48 * 3_600_000,
    runsLowDays: 7,
    leakAlerts: true,
    ownerKinds: ["low"],
    webhookAllow: [],
    key: null,
  });
});

test("a flag overrides the environment, which overrides .env", () => {
  const [flag, environment, file] = [{ PORT: "1" }, { PORT: "2" }, { PORT: "3" }];
  assert.equal(readConfig(flag, environment, file).port, 1);
  assert.equal(readConfig({}, environment, file).port, 2);
  assert.equal(readConfig({}, {}, file).port, 3);
  assert.equal(readConfig({ PORT: undefined }, { PORT: undefined }, file).port, 3);
  const mixed = readConfig({ HOST: "::1" }, { PORT: "2", HOST: "a" }, { PORT: "3", HOST: "b", LOG_LEVEL: "warn" });
  assert.deepEqual([mixed.host, mixed.port, mixed.logLevel], ["::1", 2, "warn"]);
});

test("an empty variable counts as not set, an empty flag does not", () => {
  assert.equal(readConfig({}, { PORT: "" }, { PORT: "3" }).port, 3);
  assert.equal(readConfig({}, { PORT: "" }, { PORT: "" }).port, 8080);
  assert.match(
    errorOf(() => readConfig({ PORT: "" }, {}, {})),
    /^--port must be .*, not ""$/,
  );
});

test("valid values of each entry", () => {
  const cases: [Variables, Partial<Config>][] = [
    [{ DATABASE_URL: "sqlite:/var/lib/tanks.db" }, { databaseUrl: "sqlite:/var/lib/tanks.db" }],
    [{ PORT: "0" }, { port: 0 }],
    [{ PORT: "65535" }, { port: 65_535 }],
    [{ HOST: "0.0.0.0" }, { host: "0.0.0.0" }],
    [{ WORKERS: "1" }, { workers: 1 }],
    [{ WORKERS: "64" }, { workers: 64 }],
    [{ LOG_LEVEL: "WARN" }, { logLevel: "warn" }],
    [{ LOG_LEVEL: "silent" }, { logLevel: "silent" }],
    [{ CORS_ORIGINS: "*" }, { corsOrigins: ["*"] }],
    [
      { CORS_ORIGINS: "https://a.example, http://localhost:3000" },
      { corsOrigins: ["https://a.example", "http://localhost:3000"] },
    ],
    [{ TRUST_PROXY: "false" }, { trustProxy: false }],
    [{ TRUST_PROXY: "2" }, { trustProxy: 2 }],
    [{ TRUST_PROXY: "10.0.0.0/8, ::1,loopback" }, { trustProxy: ["10.0.0.0/8", "::1", "loopback"] }],
    [{ RATE_LIMIT: "0" }, { rateLimit: 0 }],
    [{ RATE_LIMIT: "1000000" }, { rateLimit: 1_000_000 }],
    [{ SMTP_URL: "smtps://a%40b:p%25@mail.example" }, { smtpUrl: "smtps://a%40b:p%25@mail.example" }],
    [{ SMTP_URL: "smtp://[::1]:25/?requireTLS=true" }, { smtpUrl: "smtp://[::1]:25/?requireTLS=true" }],
    [{ MAIL_FROM: "tanks@example.com" }, { mailFrom: { name: null, address: "tanks@example.com" } }],
    [{ MAIL_FROM: "Öl & Gas <a+b@x.example>" }, { mailFrom: { name: "Öl & Gas", address: "a+b@x.example" } }],
    [{ MAIL_FROM: '"Gas, Ltd." <a@müller.example>' }, { mailFrom: { name: "Gas, Ltd.", address: "a@xn--mller-kva.example" } }],
    [{ PUBLIC_URL: "https://tanks.example.com/" }, { publicUrl: "https://tanks.example.com" }],
    [{ PUBLIC_URL: "https://EXAMPLE.com:8443/tanks//" }, { publicUrl: "https://example.com:8443/tanks" }],
    [{ PUBLIC_URL: "http://localhost:8080" }, { publicUrl: "http://localhost:8080" }],
    [{ PUBLIC_URL: "http://[fd00::1]" }, { publicUrl: "http://[fd00::1]" }],
    [{ PUBLIC_URL: "http://192.168.1.20/x" }, { publicUrl: "http://192.168.1.20/x" }],
    [{ PUBLIC_URL: "http://tanks.local" }, { publicUrl: "http://tanks.local" }],
    [{ REMIND_AFTER: "12h" }, { remindAfterMs: 12 * 3_600_000 }],
    [{ ALERT_MARGIN: "0.5" }, { alertMargin: 0.5 }],
    [{ ALERT_MARGIN: "50" }, { alertMargin: 50 }],
    [{ SILENT_AFTER: "10m" }, { silentAfterMs: 600_000 }],
    [{ SILENT_AFTER: "365d" }, { silentAfterMs: 365 * 86_400_000 }],
    [{ RUNS_LOW_DAYS: "0" }, { runsLowDays: 0 }],
    [{ RUNS_LOW_DAYS: "90" }, { runsLowDays: 90 }],
    [{ LEAK_ALERTS: "off" }, { leakAlerts: false }],
    [{ LEAK_ALERTS: "on" }, { leakAlerts: true }],
    [{ OWNER_ALERTS: "leak, low" }, { ownerKinds: ["low", "leak"] }],
    [{ OWNER_ALERTS: "none" }, { ownerKinds: [] }],
    [
      { WEBHOOK_ALLOW: "Hooks.internal., 10.0.0.0/8,[::1]" },
      { webhookAllow: [{ host: "hooks.internal" }, { network: "10.0.0.0", length: 8 }, { network: "::1", length: 128 }] },
    ],
  ];
  for (const [environment, expected] of cases) {
    assert.deepEqual(fromEnvironment(environment), { ...fromEnvironment({}), ...expected }, JSON.stringify(environment));
  }
});

const BAD: Readonly<Record<string, readonly string[]>> = {
  DATABASE_URL: ["postgres://", "postgresql:///", "postgres:"],
  PORT: ["http", "-1", "65536", "80.5", "0x50", " 80", "1e3", "99999999999"],
  WORKERS: ["0", "-1", "65", "1.5", "two", "auto"],
  RATE_LIMIT: ["many", "-1", "1000001", "1.5", "none"],
  WEBHOOK_ALLOW: [
    "10.0.0.0/33",
    "10.0.0.0/8/8",
    "10.0.0/8",
    "2130706433",
    "0x7f.1",
    "a.example,",
    "*.example",
    "https://a.example",
    "a.example:443",
    "a.example/x",
    "user@a.example",
    "fe80::1%eth0",
    "::1/129",
    "a b",
  ],
  LOG_LEVEL: ["inf", "loud", "warning!"],
  CORS_ORIGINS: [
    "a.example",
    "https://a.example/",
    "https://a.example/x",
    "https://a.example,",
    "null",
    "https://A.example",
    "*,https://a.example",
    "https://*.example",
    "*,*",
  ],
  MAIL_FROM: ["tanks", "a@b@c", "Tanks <a@b", "Tanks a@b", "a@b, c@d", "<>", "a@b>", "ä@b", "a@b c", "a@[::1]", "a@b:c"],
  PUBLIC_URL: [
    "tanks.example.com",
    "http://tanks.example.com",
    "http://8.8.8.8",
    "https://a:b@tanks.example.com",
    "https://tanks.example.com?x=1",
    "https://tanks.example.com/#",
    "ftp://localhost",
    "javascript:alert(1)",
  ],
  REMIND_AFTER: ["0s", "3", "3 d", "366d", "3w", "-1d"],
  ALERT_MARGIN: ["0", "-1", "51", "50.1", "3%", "three", "0.0", "1e1"],
  SILENT_AFTER: ["9m", "599s", "366d", "2", "48"],
  RUNS_LOW_DAYS: ["-1", "91", "7d", "1.5", "off"],
  LEAK_ALERTS: ["yes", "0", "true", "ON"],
  OWNER_ALERTS: ["low,", "full", "none,low", "low silent", "all"],
  TRUST_PROXY: [
    "yes",
    "true",
    "1.2.3.4,",
    "10.0.0.0/8;::1",
    "loop back",
    "-1",
    "999.1.1.1",
    "10.0.0.0/99",
    ":::",
    "abc",
    ".",
    "::1/200",
  ],
};

test("an invalid value is one line that names the entry, says what it must be, and shows it", () => {
  for (const [name, values] of Object.entries(BAD)) {
    for (const value of values) {
      const message = errorOf(() => fromEnvironment({ [name]: value }));
      assert.match(message, new RegExp(`^${name} must be .+, not "`), message);
      assert.ok(message.endsWith(`not ${JSON.stringify(value)}`), message);
      assert.doesNotMatch(message, /[.?!],/, "a sentence");
      assert.equal(
        errorOf(() => readConfig({}, {}, { [name]: value })),
        message,
      );
      const flagged = errorOf(() => readConfig({ [name]: value }, {}, {}));
      assert.equal(flagged, message.replace(name, `--${name.toLowerCase()}`));
    }
  }
});

test("the sender of mail has no control characters", () => {
  for (const sender of ["Tanks\n<a@b>", "A\u202e <a@b>", "Tanks\r\nBcc: x@y <a@b>"]) {
    assert.match(
      errorOf(() => fromEnvironment({ MAIL_FROM: sender })),
      /^MAIL_FROM must be an e-mail address/,
    );
  }
});

test("an error in a secret is reported without it", () => {
  for (const [name, value] of [
    ["TANK_MONITOR_KEY", "tm_0123456789abcdefghijABCDEFGHIJ012345"],
    ["MQTT_URL", "http://user:hush@broker"],
    ["DATABASE_REPLICA_URL", "mysql://user:hush@host"],
    ["SMTP_URL", "http://user:hush@host"],
    ["SMTP_URL", "smtp://user:hush%@host"],
    ["SMTP_URL", "smtp://user:hush@host/path"],
    ["SMTP_URL", "smtp://user:hush@host?tls.rejectUnauthorized=false"],
    ["SMTP_URL", "smtp://user:hush@host?requireTLS=maybe"],
    ["SMTP_URL", "smtp://user:hush@"],
  ] as const) {
    const message = errorOf(() => fromEnvironment({ [name]: value }));
    assert.match(message, new RegExp(`^${name} must be `));
    assert.doesNotMatch(message, /0123456789|hush/);
  }
});

test("the .env file is read if there is one", (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, ".env");
  assert.deepEqual(readEnvFile(file), {});
  writeFileSync(file, '# ours\nPORT=9000\nHOST="0.0.0.0"\nRATE_LIMIT=\n');
  const { port, host, rateLimit } = readConfig({}, {}, readEnvFile(file));
  assert.deepEqual([port, host, rateLimit], [9000, "0.0.0.0", 100]);
});

test("a .env that cannot be read is one clear line", (t) => {
  const file = join(temporaryFolder(t), ".env");
  mkdirSync(file);
  assert.throws(
    () => readEnvFile(file),
    (error) => error instanceof UserError && /\.env cannot be read: [^\n]+$/.test(error.message),
  );
});

// docs/configuration.md

const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
const settings = new Map<string, unknown>(Object.values(SETTINGS).map(({ name, fallback }) => [name, fallback]));
/** Read by simulate only. */

/** The rows of the page's tables whose first cell is the name of a variable. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  .flatMap(([first = "", ...rest]) => (/^`[A-Z][A-Z0-9_]*`$/.test(first) ? [{ name: first.slice(1, -1), rest }] : []));

test("every entry of the configuration is described, once, and nothing else is", () => {
  assert.deepEqual(rows.map(({ name }) => name).toSorted(), [...settings.keys()].toSorted());
});

test("the page names no variable that does not exist", () => {
  const named = [...page.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(([, name = ""]) => name);
  assert.ok(named.length > 0);
  for (const name of named) assert.ok(settings.has(name), name);
});

test("the page has the default of each entry", () => {
  const reads = new Map(Object.values(SETTINGS).map(({ name, read }) => [name as string, read as (text: string) => unknown]));
  for (const { name, rest } of rows) {
    const fallback = settings.get(name);
    const [, cell = ""] = rest;
    if (fallback === null || (Array.isArray(fallback) && fallback.length === 0)) assert.equal(cell, "none", name);
    else assert.deepEqual(reads.get(name)?.(cell.slice(1, -1)), fallback, name);
  }
});
