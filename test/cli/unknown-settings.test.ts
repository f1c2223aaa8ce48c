import assert from "node:assert/strict";
import test from "node:test";
import { unknownSettings } from "../../src/cli/unknown-settings.ts";

test("a name in .env that is not a setting is a warning, with a suggestion where one is similar", () => {
  const file = "PORT=80\nSMPT_URL=\nexport MAILFROM=a@b\nREDIS_URL='x'\nport=81\nTANK_MONITOR_READ_KEY=x\n";
  assert.deepEqual(unknownSettings(file, {}), [
    "SMPT_URL in .env is not a setting; did you mean SMTP_URL?",
    "MAILFROM in .env is not a setting; did you mean MAIL_FROM?",
    "REDIS_URL in .env is not a setting",
    "port in .env is ignored: write PORT, since names of settings are in capitals",
  ]);
});

test("settings of Node have no effect in .env", () => {
  assert.deepEqual(unknownSettings("NODE_EXTRA_CA_CERTS=/etc/ca.pem", {}), [
    "NODE_EXTRA_CA_CERTS in .env has no effect: Node reads it from the environment only",
  ]);
});

test("a line of .env that is not NAME=VALUE is named by its number, whatever is in it", () => {
  const file = "# PORT 80\n\nPORT 80\nHOST: hush\npostgres://user:hush@host/db?sslmode=require\nMIIEvQIBADANhush==\n=hush\n";
  const warnings = unknownSettings(file, {});
  assert.deepEqual(
    warnings,
    [3, 4, 5, 6, 7].map((line) => `line ${line} of .env is not NAME=VALUE, so it is ignored`),
  );
});

test("values may span lines in quotes, and have comments after them", () => {
  const file = "MAIL_FROM=\"Tanks\nOIL_LEVEL=1\nno name\" # comment\r\nPORT=80 # x y\r\nHOST='::1'\r\nWORKER=2";
  assert.deepEqual(unknownSettings(file, {}), ["WORKER in .env is not a setting; did you mean WORKERS?"]);
});

test("a variable of the environment is reported only if it is a setting with one typing error", () => {
  const misspelt = { SMPT_URL: "", LOGLEVEL: "warn", DATABASE_UR: "x", smtp_url: "x", RATE_LIMITT: "1", WEBHOOK_ALOW: "x" };
  const meant = { SMPT_URL: "SMTP_URL", LOGLEVEL: "LOG_LEVEL", DATABASE_UR: "DATABASE_URL", smtp_url: "SMTP_URL" };
  assert.deepEqual(
    unknownSettings("", misspelt),
    Object.entries({ ...meant, RATE_LIMITT: "RATE_LIMIT", WEBHOOK_ALOW: "WEBHOOK_ALLOW" }).map(
      ([name, setting]) => `${name} in the environment is not a setting; did you mean ${setting}?`,
    ),
  );
});

test("variables of other programs are not reported", () => {
  const others = `PATH PWD HOME USER HOSTNAME HOSTS SHELL TERM LANG TZ NODE_ENV NODE_OPTIONS PGHOST PGPORT PGDATABASE PGUSER PGPASSWORD PORTS
    POSTGRES_URL REDIS_URL DB_URL SMTP_HOST SMTP_PORT MAIL_HOST MQTT_HOST MQTT_PORT MQTT_PORT_1883_TCP TANK_MONITOR_PORT TANK_MONITOR_SERVICE_HOST
    WORKER WORKERS_DEV LOG_FILE LOG_FORMAT npm_config_loglevel UV_THREADPOOL_SIZE PUBLIC_KEY _ OLDPWD SSH_TTY XDG_RUNTIME_DIR HTTP_PROXY no_proxy`;
  const environment = Object.fromEntries(others.split(/\s+/).map((name) => [name, "x"]));
  assert.deepEqual(unknownSettings("", environment), []);
  const both = { DATABASE_URI: "x", DATABASE_URL: "sqlite:a.db" };
  assert.deepEqual(unknownSettings("", both), [], "the setting itself is given, so the other name is of another program");
  assert.deepEqual(unknownSettings("DATABASE_URL=sqlite:a.db", { DATABASE_URI: "x" }), []);
});
