// The page of the dashboard and its files, as a browser requests them.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { get, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { build } from "esbuild";
import { PATHS } from "../../dashboard/src/paths.ts";
import { startService } from "../support/service.ts";
import { expectError, request, send } from "./client.ts";

const MAX_FIRST_SCREEN_BYTES = 100_000;

const service = await startService({ after });
const ASSETS = new URL("../../dashboard/dist/assets/", import.meta.url);

function fetchBytes(path: string, encoding: string): Promise<{ headers: IncomingHttpHeaders; bytes: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ headers: IncomingHttpHeaders; bytes: Buffer }>();
  get(`${service.url}${path}`, { headers: { "accept-encoding": encoding } }, async (response) => {
    resolve({ headers: response.headers, bytes: await buffer(response) });
  }).on("error", reject);
  return promise;
}

const pathOf = (path: string): string => path.replace(/:\w+/g, "x");

it("every screen has the same page, whose URLs lead to the root however deep the path is", async () => {
  for (const path of PATHS) {
    const { status, headers, text } = await send(service, `${pathOf(path)}?page=2`);
    assert.deepEqual([status, headers["content-type"]], [200, "text/html; charset=utf-8"], path);
    const [, base = ""] = /<base href="([^"]+)">/.exec(text) ?? [];
    assert.equal(new URL(base, `${service.url}${pathOf(path)}`).href, `${service.url}/`, path);
    for (const [, url = ""] of text.matchAll(/(?:href|src)="([^"]+)"/g)) assert.ok(/^(assets\/[\w.-]+|[./]+)$/.test(url), url);
  }
});

it("the page runs scripts of this host only, and nothing may frame it", async () => {
  const { headers } = await send(service, "/");
  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.deepEqual([headers["x-content-type-options"], headers["referrer-policy"]], ["nosniff", "same-origin"]);
});

it("browsers revalidate the page each time, and cache its files", async () => {
  const page = await send(service, "/");
  assert.equal(page.headers["cache-control"], "no-cache");
  const known = await send(service, "/", { headers: { "if-none-match": String(page.headers.etag) } });
  assert.deepEqual([known.status, known.text], [304, ""]);
  for (const name of readdirSync(ASSETS).filter((file) => !/\.(br|gz)$/.test(file))) {
    const [plain, br, gzip] = await Promise.all(["identity", "br", "gzip"].map((one) => fetchBytes(`/assets/${name}`, one)));
    assert.ok(plain !== undefined && br !== undefined && gzip !== undefined);
    assert.deepEqual([br.headers["content-encoding"], gzip.headers["content-encoding"]], ["br", "gzip"]);
    assert.ok(brotliDecompressSync(br.bytes).equals(plain.bytes) && gunzipSync(gzip.bytes).equals(plain.bytes), name);
    assert.equal(br.headers["cache-control"], "public, max-age=31536000, immutable");
    assert.equal(br.headers["x-content-type-options"], "nosniff");
  }
});

it("a file that does not exist is 404, and no other file can be read", async () => {
  for (const name of [
    "main-00000000.js",
    "..%2findex.html",
    "..%2f..%2fpackage.json",
    "%2e%2e",
    "main.js.br",
    "x".repeat(5000),
  ]) {
    expectError(await request(service, `/assets/${name}`), 404, "route_unknown");
  }
  expectError(await request(service, "/", { method: "POST" }), 405, "method_not_allowed");
});

it("a browser shows the page where there is no screen; other clients, and paths of the API, get an error as JSON", async () => {
  const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
  for (const path of ["/tanks", "/fleet", "/fleet/", "/tanks/x/y?page=2"]) {
    const { status, headers, text } = await send(service, path, { headers: browser });
    assert.deepEqual([status, headers["content-type"]], [404, "text/html; charset=utf-8"], path);
    const [, base = ""] = /<base href="([^"]+)">/.exec(text) ?? [];
    assert.equal(new URL(base, `${service.url}${path}`).href, `${service.url}/`, path);
    assert.match(String(headers["content-security-policy"]), /^default-src 'none'/);
  }
  for (const accept of [undefined, "*/*", "application/json"]) {
    expectError(await request(service, "/fleet", { headers: { accept } }), 404, "route_unknown");
  }
  for (const path of ["/v1/tank", "/insight/v1/x", "/manage", "/ingest/v1/x", "/auth/v1/x", "/docs/x", "/assets/x.js"]) {
    expectError(await request(service, path, { headers: browser }), 404, "route_unknown");
  }
  expectError(await request(service, "/fleet", { method: "POST", headers: browser }), 404, "route_unknown");
});

it("a path with a slash at its end leads to the one without", async () => {
  const { status, headers } = await send(service, "/sign-in/");
  assert.deepEqual([status, headers["location"]], [301, "../sign-in"]);
});

it(`the first screen loads less than ${MAX_FIRST_SCREEN_BYTES / 1000} KB of JavaScript, compressed`, async () => {
  const { text } = await send(service, "/");
  const loaded = new Set<string>();
  let total = 0;
  const load = async (name: string): Promise<void> => {
    if (loaded.has(name)) return;
    loaded.add(name);
    const { bytes } = await fetchBytes(`/assets/${name}`, "br");
    total += bytes.length;
    const source = brotliDecompressSync(bytes).toString();
    for (const [, imported = ""] of source.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) await load(imported);
  };
  for (const [, name = ""] of text.matchAll(/"assets\/([\w.-]+\.js)"/g)) await load(name);
  assert.ok(loaded.size > 2 && total > 10_000, `${[...loaded]}`);
  assert.ok(total < MAX_FIRST_SCREEN_BYTES, `${total} bytes`);
});

it("a packed release contains the built dashboard, and what the service imports of its source", async () => {
  const root = new URL("../../", import.meta.url);
  const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root });
  const assets = readdirSync(ASSETS).map((file) => `dashboard/dist/assets/${file}`);
  const { metafile } = await build({
    entryPoints: ["src/main.ts"],
    absWorkingDir: fileURLToPath(root),
    ...{ bundle: true, platform: "node", format: "esm", packages: "external", splitting: true, outdir: "dist", write: false },
    metafile: true,
  });
  const imported = Object.keys(metafile.inputs).filter((name) => !name.startsWith("src/"));
  assert.ok(imported.includes("dashboard/src/paths.ts"), `${[...imported]}`);
  for (const name of ["dashboard/dist/index.html", ...assets, ...imported]) assert.ok(stdout.includes(`"${name}"`), name);
});
