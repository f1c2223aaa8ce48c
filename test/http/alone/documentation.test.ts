// The files of the documentation page, and the OpenAPI document: compressed once, cached, and found behind a prefix.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { get, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, it } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { startService } from "../../support/service.ts";
import { send } from "../client.ts";

const service = await startService({ after });
const BUNDLE = "/docs/static/swagger-ui-bundle.js";
const FILES = ["/docs", "/openapi.json", BUNDLE, "/docs/static/swagger-ui.css", "/docs/static/start.js"];

function fetchBytes(path: string, encoding: string): Promise<{ headers: IncomingHttpHeaders; bytes: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ headers: IncomingHttpHeaders; bytes: Buffer }>();
  get(`${service.url}${path}`, { headers: { "accept-encoding": encoding } }, async (response) => {
    resolve({ headers: response.headers, bytes: await buffer(response) });
  }).on("error", reject);
  return promise;
}

for (const path of FILES) {
  it(`${path} has the same content in every encoding, and an ETag for each`, async () => {
    const [plain, br, gzip] = await Promise.all(["identity", "br", "gzip"].map((encoding) => fetchBytes(path, encoding)));
    assert.ok(plain !== undefined && br !== undefined && gzip !== undefined);
    assert.deepEqual([br.headers["content-encoding"], gzip.headers["content-encoding"]], ["br", "gzip"]);
    assert.ok(brotliDecompressSync(br.bytes).equals(plain.bytes));
    assert.ok(gunzipSync(gzip.bytes).equals(plain.bytes));
    const tags = [plain, br, gzip].map(({ headers }) => String(headers.etag));
    assert.equal(new Set(tags).size, 3);
    for (const [i, encoding] of ["identity", "br", "gzip"].entries()) {
      const headers = { "accept-encoding": encoding, "if-none-match": tags[i] };
      const known = await send(service, path, { headers });
      assert.deepEqual([known.status, known.text, known.headers.etag], [304, "", tags[i]]);
      assert.deepEqual((await fetchBytes(path, encoding)).headers.etag, tags[i]);
    }
  });
}

it("a file is compressed once", async () => {
  const file = new URL("swagger-ui-bundle.js", import.meta.resolve("@fastify/swagger-ui/static/index.html"));
  const { bytes } = await fetchBytes(BUNDLE, "br");
  assert.ok(brotliDecompressSync(bytes).equals(readFileSync(file)));
  const started = process.cpuUsage();
  const count = 40;
  for (let i = 0; i < count; i++) assert.ok((await fetchBytes(BUNDLE, "br")).bytes.equals(bytes));
  const { user, system } = process.cpuUsage(started);
  const each = (user + system) / 1000 / count;
  assert.ok(each < 30, `a request took ${each.toFixed(1)} ms`);
});

it("URLs in the page are relative; with a slash at the end of its path it redirects", async () => {
  const { text } = await send(service, "/docs");
  const urls = Array.from(text.matchAll(/(?:href|src)="([^"]+)"/g), ([, url = ""]) => url);
  assert.equal(urls.length, 5);
  for (const url of urls) assert.ok(/^docs\/static\/[\w.-]+$/.test(url), url);
  for (const path of ["/docs/", "/docs/?x"]) {
    const { status, headers } = await send(service, path);
    assert.deepEqual([status, headers.location], [301, "../docs"]);
  }
  const { servers } = JSON.parse((await send(service, "/openapi.json")).text);
  assert.equal(new URL(servers[0].url, "https://example.com/tanks/openapi.json").href, "https://example.com/tanks/");
});
