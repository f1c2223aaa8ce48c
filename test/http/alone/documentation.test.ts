// The files of the documentation page, and the OpenAPI document: compressed once, cached, and found behind a prefix.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { get, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, it } from "node:test";
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from "node:zlib";
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

/** The least that compressing costs: half of the fastest gzip. */
const compressFastest = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MIN_QUALITY } });

/** The median CPU time of 41 runs, in milliseconds. Unlike elapsed time, it depends little on the load of the machine. */
async function cpuTimeOf(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 41; i++) {
    const started = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(started);
    times.push((user + system) / 1000);
  }
  return times.sort((a, b) => a - b)[20] ?? 0;
}

for (const encoding of ["br", "gzip"] as const) {
  it(`a file is compressed once: ${encoding}`, async () => {
    const plain = readFileSync(new URL("swagger-ui-bundle.js", import.meta.resolve("@fastify/swagger-ui/static/index.html")));
    assert.ok((await fetchBytes(BUNDLE, "identity")).bytes.equals(plain));
    const { bytes } = await fetchBytes(BUNDLE, encoding);
    const request = await cpuTimeOf(async () => assert.ok((await fetchBytes(BUNDLE, encoding)).bytes.equals(bytes)));
    const compression = await cpuTimeOf(() => compressFastest(plain));
    // A request that compresses costs more than the compression.
    assert.ok(request < compression, `a request takes ${request.toFixed(1)} ms, a compression ${compression.toFixed(1)} ms`);
  });
}

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
