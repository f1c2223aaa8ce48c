// GET /openapi.json, and Swagger UI at /docs, which loads nothing from other hosts.

import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { JSON_TYPE } from "./route.ts";

/** Swagger UI sets styles on elements and embeds its icons as data; everything else comes from this host. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

const OPENAPI_PATH = "/openapi.json";
const DOCS_PATH = "/docs";

const ICON = {
  filename: "icon.svg",
  rel: "icon",
  type: "image/svg+xml",
  sizes: "any",
  content: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="5" y="3" width="22" height="26" rx="6" fill="#dfe7ef"/>
<path d="M5 17h22v6a6 6 0 0 1-6 6H11a6 6 0 0 1-6-6z" fill="#2b6cb0"/></svg>`,
};

const COMPRESS = { br: promisify(brotliCompress), gzip: promisify(gzip) };
type Encoding = keyof typeof COMPRESS;

export async function registerDocumentation(app: FastifyInstance, document: object): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(document));
  const compressed: Partial<Record<Encoding, Promise<Buffer>>> = {};
  app.get(OPENAPI_PATH, async (request, reply) => {
    request.routePath = OPENAPI_PATH;
    reply.header("content-type", JSON_TYPE).header("cache-control", "no-store");
    const vary = reply.getHeader("vary");
    reply.header("vary", vary === undefined ? "Accept-Encoding" : `${vary}, Accept-Encoding`);
    const encoding = acceptedEncoding(request.headers["accept-encoding"]);
    if (encoding === undefined) return bytes;
    compressed[encoding] ??= COMPRESS[encoding](bytes);
    reply.header("content-encoding", encoding);
    return compressed[encoding];
  });
  await app.register(async (docs) => {
    docs.addHook("onRequest", (request, _reply, done) => {
      request.routePath = DOCS_PATH;
      // Ranges are not supported, and HTTP allows a server to ignore them.
      delete request.raw.headers.range;
      done();
    });
    // Whatever the file server dislikes about a name, there is no such page.
    docs.setErrorHandler((_error, _request, reply) => reply.callNotFound());
    await docs.register(swagger, { mode: "static", specification: { document } } as never);
    await docs.register(swaggerUi, {
      routePrefix: DOCS_PATH,
      staticCSP: CONTENT_SECURITY_POLICY,
      theme: { title: "Tank Monitor: interface", favicon: [ICON] },
      // BaseLayout has no input for documents of other hosts.
      uiConfig: {
        url: OPENAPI_PATH,
        layout: "BaseLayout",
        docExpansion: "list",
        tryItOutEnabled: true,
        validatorUrl: null,
      } as never,
    });
  });
}

/** Brotli where the client accepts both. */
function acceptedEncoding(header = ""): Encoding | undefined {
  const accepted = header.split(",").flatMap((part) => {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
  });
  return (["br", "gzip"] as const).find((encoding) => accepted.includes(encoding));
}
