// docs/security.md names tests that exist, and what it says about connections and dependencies is so.

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import test from "node:test";

const ROOT = new URL("../../", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, ROOT), "utf8");

/** The start of a test or of a group of tests, with its title; `status` defines a test for an HTTP status. */
const DEFINITION = /^ *(?:await t\.)?(?:test|it|describe|status)\(\s*(?:\d+, )?(["`])(.*?)\1/gm;
/** The last cell of a guarantee: files, each with any number of titles. */
const CELL = /\| (?:(?:, )?`test\/[^`|]+`(?: "[^"|]+"(?:, "[^"|]+")*)?)+ \|$/;

type NamedTest = { readonly file: string; readonly titles: readonly string[] };

function testsIn(page: string): NamedTest[] {
  return [...page.matchAll(/`(test\/[\w/.-]+\.ts)`((?:,? "[^"]+")*)/g)].map(([, file = "", quoted = ""]) => {
    return { file, titles: [...quoted.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title) };
  });
}

/** Which of them its file does not define, or the file if there is none. */
function missingOf({ file, titles }: NamedTest): string[] {
  if (!existsSync(new URL(file, ROOT))) return [file];
  const defined = [...read(file).matchAll(DEFINITION)].map(([, , title = ""]) => title);
  return titles.filter((title) => !defined.some((one) => one.includes(title))).map((title) => `${file} "${title}"`);
}

test("docs/security.md names only tests that exist, and one for each guarantee", () => {
  const page = read("docs/security.md");
  const named = testsIn(page);
  assert.ok(named.length > 40);
  assert.deepEqual(named.flatMap(missingOf), []);
  const guarantees = page.split("\n").filter((line) => /^\| (?!guarantee|-)/.test(line));
  assert.deepEqual(
    guarantees.filter((line) => !CELL.test(line)),
    [],
  );
});

/** Ways to open a connection. */
const OUTGOING =
  /\bfetch\(|(?:from|import\() ?"(?:mqtt|nodemailer|pg|undici)"|import \{[^}]*\b(?:request|get|connect|createConnection)\b[^}]*\} from "node:(?:https?|http2|net|tls)"/;

test("connections are opened only to configured addresses and by webhooks", () => {
  const files = globSync("src/**/*.ts", { cwd: ROOT }).map((file) => file.replaceAll("\\", "/"));
  const opening = files.filter((file) => OUTGOING.test(read(file)) && !file.startsWith("src/store/postgres/"));
  // The broker of MQTT_URL, the mail server of SMTP_URL, webhooks, the service of --url, simulated devices, and the receiver of another demo.
  const expected = [
    "src/cli/remote.ts",
    "src/demo/receiver.ts",
    "src/ingest/mqtt/external-broker.ts",
    "src/notify/connect.ts",
    "src/notify/mail/transport.ts",
    "src/notify/webhook.ts",
    "src/simulate/http.ts",
    "src/simulate/mqtt.ts",
  ];
  assert.deepEqual(opening.sort(), expected);
});

test("dependencies are pinned", () => {
  const { dependencies, devDependencies, optionalDependencies, allowScripts } = JSON.parse(read("package.json"));
  const versions = Object.values<string>({ ...dependencies, ...devDependencies, ...optionalDependencies });
  for (const version of versions) assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/);
  type Package = {
    readonly integrity?: string;
    readonly dev?: boolean;
    readonly hasInstallScript?: boolean;
    readonly link?: boolean;
  };
  const { "": _, ...packages } = JSON.parse(read("package-lock.json")).packages as Record<string, Package>;
  for (const [path, { integrity, dev, hasInstallScript, link }] of Object.entries(packages)) {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const isOurs = link === true || !path.startsWith("node_modules/");
    assert.ok(isOurs || integrity?.startsWith("sha512-"), path);
    // npm does not run a script that package.json forbids.
    assert.ok(dev === true || hasInstallScript !== true || allowScripts[name] === false, path);
  }
});
