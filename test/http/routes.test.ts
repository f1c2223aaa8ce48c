// The routes that are mounted and the routes that are documented are the same.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { LastSeen } from "../../src/http/last-seen.ts";
import { ManagementService } from "../../src/http/management.ts";
import { buildServer } from "../../src/http/server.ts";
import { createHttpIngest } from "../../src/ingest/http.ts";
import { createIngest } from "../../src/ingest/ingest.ts";
import { openMetrics } from "../../src/observe/metrics.ts";
import { openStore } from "../../src/store/open.ts";
import { type Lifetime, temporaryFolder } from "../support/service.ts";
import { contract, get, refused, send } from "./answers.ts";
import { startFleet } from "./fleet.ts";

const fleet = await startFleet({ after });
const { document } = await contract(fleet);
const manage = await fleet.key({ role: "manage" });

/** Not part of the interface: the document itself, and the page that shows it. */
const isAboutTheInterface = (path: string) => path === "/openapi.json" || path === "/docs" || path.startsWith("/docs");

/** What the framework has mounted, read from its own tree: four columns a level. */
async function mounted(life: Lifetime): Promise<{ path: string; methods: string[] }[]> {
  const store = await openStore(`sqlite:${join(temporaryFolder(life), "routes.db")}`, () => {});
  const lastSeen = new LastSeen(store.updateLastSeen, Date.now, () => {});
  const metrics = openMetrics();
  const server = await buildServer({
    reads: store,
    services: {
      ingest: createHttpIngest(createIngest(store, Date.now), Date.now),
      management: new ManagementService(store, Date.now),
    },
    lastSeen,
    clock: Date.now,
    observe: () => {},
    metrics,
    limits: { take: () => 1 },
    version: "0.0.0",
    rateLimit: 0,
    corsOrigins: [],
    trustProxy: false,
    timeouts: { headersMs: 1000, requestMs: 1000 },
  });
  await server.ready();
  const tree = server.printRoutes({ commonPrefix: false });
  await server.close();
  await lastSeen.stop();
  await store.close();
  metrics.close();
  const above: string[] = [];
  return tree
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const parts = /^([│ ]*)[├└]── (\S+) \((.*)\)$/.exec(line);
      assert.ok(parts !== null, `the framework prints ${JSON.stringify(line)}`);
      const [, indent = "", segment = "", methods = ""] = parts;
      const depth = indent.length / 4;
      above.length = depth;
      above[depth] = segment;
      return { path: above.join(""), methods: methods.split(", ").sort() };
    });
}

/** Writes, and what only an operator asks, have paths of their own. */
const isElsewhere = (template: string) => template.startsWith("/manage/v1/") || template.startsWith("/ingest/v1/");

describe("a documented route", () => {
  for (const [template, item] of Object.entries(document.paths).filter(([path]) => !isElsewhere(path))) {
    it(`answers: ${template}`, async () => {
      const path = template.replace("{id}", template.startsWith("/v1/tanks") ? "tank_hall" : "cus_brenner");
      assert.ok(!path.includes("{"), path);
      assert.equal((await get(fleet, path, { key: manage })).status, 200);
      assert.deepEqual(Object.keys(item), ["get"]);
    });
  }

  it("is one of the five of the interface, or for those who run the service", () => {
    const interfaceRoutes = ["/v1/customers", "/v1/customers/{id}", "/v1/tanks", "/v1/tanks/{id}", "/v1/tanks/{id}/telemetry"];
    const routes = Object.keys(document.paths).filter((path) => !isElsewhere(path));
    assert.deepEqual(routes, [...interfaceRoutes, "/healthz", "/readyz", "/metrics"]);
  });
});

describe("a mounted route", () => {
  it("is documented, with its methods and HEAD, and the other way round", async (t) => {
    const routes = (await mounted(t)).filter(({ path }) => !isAboutTheInterface(path));
    const found = routes.map(({ path, methods }) => [path.replaceAll(/:(\w+)/g, "{$1}"), methods]);
    const documented = Object.entries(document.paths).map(([path, item]) => {
      const methods = Object.keys(item).map((method) => method.toUpperCase());
      return [path, [...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].sort()];
    });
    assert.deepEqual(found.sort(), documented.sort());
  });

  it("needs a key, unless the document says that it needs none", async () => {
    const open = ["/healthz", "/readyz"];
    for (const [template, item] of Object.entries(document.paths)) {
      const path = template.replace("{id}", "anything");
      for (const [method, { security }] of Object.entries(item)) {
        const answer = await get(fleet, path, { method: method.toUpperCase() });
        if (open.includes(path)) assert.equal(answer.status, 200);
        else refused(answer, 401, "key_missing");
        assert.equal(security?.length === 0, open.includes(path), path);
      }
    }
  });
});

describe("what is about the interface", () => {
  it("needs no key: /openapi.json and /docs", async () => {
    const json = await send(fleet, "/openapi.json");
    assert.equal(json.status, 200);
    assert.match(String(json.headers["content-type"]), /^application\/json(;|$)/);
    const page = await send(fleet, "/docs");
    assert.equal(page.status, 200);
    assert.match(String(page.headers["content-type"]), /^text\/html/);
  });

  it("lets the page load nothing from elsewhere", async () => {
    const policy = String((await send(fleet, "/docs")).headers["content-security-policy"]);
    assert.match(policy, /default-src 'self'/);
    assert.ok(!/https?:|\*|unsafe-eval/.test(policy), policy);
  });
});
