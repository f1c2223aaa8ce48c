// GET /openapi.json, and Swagger UI at /docs, which loads nothing from other hosts. A document is created and compressed once,
// when it is first requested.

import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { type Encoding, negotiateEncoding } from "./encoding.ts";
import { etagOf, isKnownTag } from "./handler.ts";
import { pathOf } from "./paths.ts";
import { JSON_TYPE } from "./route.ts";

const OPENAPI_PATH = "/openapi.json";
const DOCS_PATH = "/docs";
const FILES_PATH = `${DOCS_PATH}/static`;
/** Only its files are used, not its plugin. swagger-ui-dist has them too, but installs a package that reports its use. */
const SWAGGER_UI = import.meta.resolve("@fastify/swagger-ui/static/index.html");

/** URLs in the page are relative, so that it works behind a proxy that adds a prefix to all paths. */
const RELATIVE_FILES = FILES_PATH.slice(1);
const PAGE = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Tank Monitor API</title>
<link rel="icon" type="image/svg+xml" href="${RELATIVE_FILES}/icon.svg">
<link rel="stylesheet" href="${RELATIVE_FILES}/swagger-ui.css">
<link rel="stylesheet" href="${RELATIVE_FILES}/index.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${RELATIVE_FILES}/swagger-ui-bundle.js"></script>
<script src="${RELATIVE_FILES}/start.js"></script>
</body>
</html>
`;

/** BaseLayout has no input for documents of other hosts. */
const START = `SwaggerUIBundle({
  url: "${OPENAPI_PATH.slice(1)}",
  dom_id: "#swagger-ui",
  deepLinking: true,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  docExpansion: "list",
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="5" y="3" width="22" height="26" rx="6" fill="#dfe7ef"/>
<path d="M5 17h22v6a6 6 0 0 1-6 6H11a6 6 0 0 1-6-6z" fill="#2b6cb0"/></svg>
`;

/** Swagger UI sets styles on elements and embeds its icons as data; everything else comes from this host. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

export function registerDocumentation(app: FastifyInstance, openapiDocument: () => Promise<object>): void {
  serve(app, OPENAPI_PATH, JSON_TYPE, async () => Buffer.from(JSON.stringify(await openapiDocument())));
  serve(app, DOCS_PATH, "text/html; charset=utf-8", async () => Buffer.from(PAGE));
  serve(app, `${FILES_PATH}/start.js`, "text/javascript", async () => Buffer.from(START));
  serve(app, `${FILES_PATH}/icon.svg`, "image/svg+xml", async () => Buffer.from(ICON));
  for (const [name, mediaType] of [
    ["swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
    ["swagger-ui.css", "text/css; charset=utf-8"],
    ["index.css", "text/css"],
  ] as const) {
    serve(app, `${FILES_PATH}/${name}`, mediaType, () => readFile(new URL(name, SWAGGER_UI)));
  }
}

const ENCODERS = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip),
  identity: async (bytes: Buffer) => bytes,
} satisfies Record<Encoding, (bytes: Buffer) => Promise<Buffer>>;

type Encoded = { readonly bytes: Buffer; readonly etag: string };

function serve(app: FastifyInstance, path: string, mediaType: string, read: () => Promise<Buffer>): void {
  const encoded: Partial<Record<Encoding, Promise<Encoded>>> = {};
  const encode = async (encoding: Encoding): Promise<Encoded> => {
    const bytes = await ENCODERS[encoding](await read());
    return { bytes, etag: await etagOf(bytes) };
  };
  app.get(path, async (request, reply) => {
    request.routePath = path;
    // Relative URLs in the page would lead elsewhere.
    if (pathOf(request.raw.url).endsWith("/")) return reply.redirect(`../${path.slice(path.lastIndexOf("/") + 1)}`, 301);
    const encoding = negotiateEncoding(request, reply);
    encoded[encoding] ??= encode(encoding);
    const { bytes, etag } = await encoded[encoding].catch((error: unknown) => {
      // The next request tries again: a process may be out of file descriptors for a while.
      delete encoded[encoding];
      throw error;
    });
    reply.header("cache-control", "no-cache").header("etag", etag).header("content-security-policy", CONTENT_SECURITY_POLICY);
    if (isKnownTag(request, etag)) return reply.code(304).send();
    if (encoding !== "identity") reply.header("content-encoding", encoding);
    return reply.header("content-type", mediaType).send(bytes);
  });
}
