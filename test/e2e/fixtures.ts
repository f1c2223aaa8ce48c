// Import lines for a few customers, tanks and readings, or for very many; and the command line on a database or a service.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { customer, type Line, tank } from "../support/lines.ts";
import type { Lifetime } from "../support/service.ts";

import { type Service, type Workspace, workspace } from "./program.ts";

export { customer, type Line, tank };

const FIRST_READING = Date.UTC(2026, 0, 3);

/** The readings of a tank are one minute apart. */
export function reading(tankId: string, minute: number, fill: number): Line {
  const created_at = new Date(FIRST_READING + minute * 60_000).toISOString();
  return { object: "telemetry", tank_id: tankId, created_at, fill_percentage: fill };
}

export function ndjson(lines: Iterable<Line>): string {
  return Array.from(lines, (line) => `${JSON.stringify(line)}\n`).join("");
}

/** Two customers and one that is deleted, three tanks and one that is deleted, four readings. */
export const SMALL_FLEET: readonly Line[] = [
  customer("ada", { verified_at: "2026-01-05T08:00:00.000Z", phone: "+43 1 234" }),
  customer("bob", { created_at: "2026-01-02T00:00:00.000Z" }),
  customer("gone", { deleted: true }),
  tank("a1", "ada", { location: { city: "Wien", country: "AT" }, use_case: "residential" }),
  tank("a2", "ada", { created_at: "2026-01-03T00:00:00.000Z", custom_id: "cellar" }),
  tank("b1", "bob", { capacity_unit: "gallons" }),
  tank("scrapped", "bob", { deleted: true }),
  reading("a1", 0, 80),
  reading("a1", 1, 79.5),
  reading("a1", 2, 79.25),
  reading("b1", 0, 12),
];

/** With characters, numbers and instants that are easily damaged on the way through a file or a database. */
export const DIFFICULT_FLEET: readonly Line[] = [
  ...SMALL_FLEET,
  customer("ünï·cøde 🛢", { email: "zoë@söhne.example", name: 'Zoë "the Tank" O\u2019Brien \\ Söhne\\N', phone: "\\." }),
  customer("early", { created_at: "1969-12-31T23:59:59.999Z", updated_at: "2026-01-01T00:00:00.001Z" }),
  tank("of,a\"strange'name\\t", "ünï·cøde 🛢", { capacity: 0.1, location: { latitude: -89.999999, longitude: 180 } }),
  ...Array.from({ length: 300 }, (_, i) => reading("of,a\"strange'name\\t", i, i / 3)),
  reading("scrapped", 5, 7),
  { object: "telemetry", tank_id: "a2", created_at: "1970-01-01T00:00:00.000Z", fill_percentage: 0 },
];

/** One path of each endpoint of /v1, on that fleet. */
export const FIVE_PATHS = ["/v1/customers", "/v1/customers/ada", "/v1/tanks", "/v1/tanks/a1", "/v1/tanks/a1/telemetry"];

export async function importLines({ path, run }: Workspace, lines: Iterable<Line>, name = "fleet.ndjson"): Promise<void> {
  writeFileSync(path(name), ndjson(lines));
  const { code, stderr } = await run(["import", name]);
  assert.equal(code, 0, stderr);
}

/** The secret of a new read key for all customers, or as `words` say. */
export async function createKey({ run }: Workspace, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(["key", "create", "--name", "test", ...words]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

/** A file of `count` lines: 20 customers, 100 tanks, and readings in the order in which tanks report. */
export function* manyLines(count: number): Generator<Line> {
  for (let i = 0; i < 20; i++) yield customer(`customer-${i}`);
  for (let i = 0; i < 100; i++) yield tank(`tank-${i}`, `customer-${i % 20}`);
  for (let i = 0; i < count - 120; i++) yield reading(`tank-${i % 100}`, Math.floor(i / 100), (i % 997) / 10);
}

export type Cli = {
  readonly workspace: Workspace;
  readonly run: Workspace["run"];
  /** What a command that must succeed prints on stdout. */
  readonly output: (...words: readonly string[]) => Promise<string>;
  /** The objects that it prints with --json, one per line. */
  readonly items: (...words: readonly string[]) => Promise<readonly Line[]>;
  readonly expectFailure: (words: readonly string[], message: RegExp, exitCode?: number) => Promise<void>;
};

type ServiceCli = Cli & { readonly service: Service; readonly key: string };

/** Commands that open the database of a workspace with these lines. */
export async function cliOnDatabase(life: Lifetime, lines: Iterable<Line>, env: Record<string, string> = {}): Promise<Cli> {
  const here = workspace(life, env);
  await importLines(here, lines);
  return cli(here, here.run);
}

/** Commands that call a running service with these lines, with a manage key; they have no database of their own. */
export async function cliOnService(life: Lifetime, lines: Iterable<Line>): Promise<ServiceCli> {
  const here = workspace(life);
  await importLines(here, lines);
  const service = await here.start();
  const key = await createKey(here, "--role", "manage");
  const env = { TANK_MONITOR_KEY: key, DATABASE_URL: "sqlite:never.db" };
  return { ...cli(here, (words) => here.run([...words, "--url", service.url], { env })), service, key };
}

function cli(here: Workspace, run: Cli["run"]): Cli {
  async function output(...words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await run(words);
    assert.equal(code, 0, stderr);
    return stdout;
  }
  return {
    workspace: here,
    run,
    output,
    items: async (...words) => jsonLines(await output(...words, "--json")),
    async expectFailure(words, message, exitCode = 1) {
      const { code, stdout, stderr } = await run(words);
      assert.deepEqual([stdout, code], ["", exitCode], stderr);
      assert.match(stderr, message);
    },
  };
}

export const jsonLines = (text: string): Line[] => text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
