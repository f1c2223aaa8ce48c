// docs/grafana.md and the dashboard beside it: their requests and SQL work, with the rights that the page grants.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { postgresDatabase } from "../support/postgres/database.ts";
import { expectStatus, type Item, jsonClient, object, request } from "./client.ts";
import { HALL_READINGS, NEWEST, startFleet } from "./services.ts";

type Column = { readonly selector: string; readonly type: string };
type Target = {
  readonly url?: string;
  readonly root_selector?: string;
  readonly columns?: readonly Column[];
  readonly rawSql?: string;
};
type Dashboard = { readonly panels: readonly { readonly title: string; readonly targets: readonly Target[] }[] };

const doc = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const PAGE = doc("grafana.md");
const { panels } = JSON.parse(doc("grafana-dashboard.json")) as Dashboard;
const blocks = (language: string): string[] =>
  Array.from(PAGE.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)\\n *\`\`\``, "gms")), ([, , text = ""]) => text.trim());

const FROM = "2026-11-13T00:00:00.000Z";
const TO = "2026-11-15T00:00:00.000Z";
/** What Grafana puts in the place of its variables and macros. */
const VARIABLES: Readonly<Record<string, string>> = {
  "${tank}": "tank_hall",
  "${tank:percentencode}": "tank_hall",
  "${tank:sqlstring}": "'tank_hall'",
  "${__from:date:iso}": FROM,
  "${__to:date:iso}": TO,
  "${__timezone}": "Europe/Berlin",
  "$__timeFrom()": `'${FROM}'`,
  "$__timeTo()": `'${TO}'`,
};

function filled(text: string): string {
  const result = text.replaceAll(/\$\{[^}]+\}|\$__\w+\(\)/g, (name) => VARIABLES[name] ?? assert.fail(`unknown ${name}`));
  return result.replaceAll("t-204", "tank_hall").replaceAll("t-205", "tank_mill");
}

const at = (value: unknown, selector: string): unknown =>
  selector.split(".").reduce<unknown>((inner, name) => (inner as Item | null | undefined)?.[name], value);

const database = await postgresDatabase({ after });
const service = await startFleet({ after }, { environment: { DATABASE_URL: database.url } });
const role = `grafana_${randomBytes(4).toString("hex")}`;

before(async () => {
  const [grants = ""] = blocks("sql");
  assert.match(grants, /^CREATE ROLE grafana/);
  await database.query(grants.replaceAll(/\bgrafana\b/g, role));
  database.closeFirst(() => database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
});

async function rows(sql: string): Promise<Item[]> {
  await database.query(`SET ROLE ${role}`);
  return database.query<Item>(filled(sql)).finally(() => database.query("RESET ROLE"));
}

describe("the dashboard", () => {
  for (const { title, targets } of panels) {
    for (const { url, root_selector = "", columns = [], rawSql } of targets) {
      it(`has a panel "${title}" whose query works`, async () => {
        if (rawSql !== undefined) {
          const found = await rows(rawSql);
          assert.equal(found.length, HALL_READINGS);
          assert.deepEqual(found.at(-1), { time: new Date(NEWEST), fill: 60 });
          return;
        }
        const list = at(object(await request(service, filled(url ?? ""), { key: service.operator })), root_selector) as Item[];
        assert.ok(list.length > 0 && columns.length > 0);
        for (const { selector, type } of columns) {
          const values = list.map((one) => at(one, selector)).filter((value) => value !== undefined && value !== null);
          assert.ok(values.length > 0, selector);
          for (const value of values) {
            assert.equal(typeof value, type === "number" ? "number" : "string", selector);
            if (type === "timestamp") assert.ok(!Number.isNaN(Date.parse(String(value))), selector);
          }
        }
      });
    }
  }
});

describe("docs/grafana.md", () => {
  const queries = blocks("sql").slice(1);
  for (const [i, sql] of queries.entries()) {
    it(`has SQL that works: number ${i + 1}`, async () => {
      const found = await rows(sql);
      assert.ok(found.length > 0);
      for (const { time } of found) assert.ok(time instanceof Date);
    });
  }

  it("has requests that work", async () => {
    assert.equal(queries.length, 3);
    const [url = ""] = blocks("").filter((text) => text.startsWith("/insight/"));
    const { buckets } = object(await request(service, filled(url), { key: service.operator }));
    assert.ok((buckets as Item[]).length > 0);
    const [body = ""] = blocks("json");
    const { data } = expectStatus(
      await jsonClient(service, service.operator)("POST", "/insight/v1/series", JSON.parse(filled(body))),
      200,
    );
    assert.deepEqual(
      (data as Item[]).map((one) => one["tank_id"]),
      ["tank_hall", "tank_mill"],
    );
  });

  it("grants nothing but readings", async () => {
    for (const table of ["head", "block", "tank", "customer", "api_key"]) {
      await assert.rejects(rows(`SELECT * FROM ${table}`), /permission denied/, table);
    }
  });
});
