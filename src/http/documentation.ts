// GET /openapi.json, and the page at /docs: Swagger UI served by us, which loads nothing from anywhere else.

import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { sendFresh } from "./answer.ts";
import { JSON_TYPE } from "./route.ts";

/** Swagger UI sets styles on elements and carries its icons as data; everything else comes from this host. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

const PATH = "/docs";

const ICON = {
  filename: "icon.svg",
  rel: "icon",
  type: "image/svg+xml",
  sizes: "any",
  content: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="5" y="3" width="22" height="26" rx="6" fill="#dfe7ef"/>
<path d="M5 17h22v6a6 6 0 0 1-6 6H11a6 6 0 0 1-6-6z" fill="#2b6cb0"/></svg>`,
};

export async function mountDocumentation(app: FastifyInstance, document: object): Promise<void> {
  const text = JSON.stringify(document);
  app.get("/openapi.json", (request, reply) => {
    request.taken = "/openapi.json";
    sendFresh(reply, JSON_TYPE, text);
  });
  await app.register(async (docs) => {
    docs.addHook("onRequest", (request, _reply, done) => {
      request.taken = PATH;
      // Parts of a file are not on offer; ignoring the wish is what HTTP allows.
      delete request.raw.headers.range;
      done();
    });
    // Whatever the file server finds wrong with a name, there is no such page.
    docs.setErrorHandler((_error, _request, reply) => reply.callNotFound());
    await docs.register(swagger, { mode: "static", specification: { document } } as never);
    await docs.register(swaggerUi, {
      routePrefix: PATH,
      staticCSP: CONTENT_SECURITY_POLICY,
      theme: { title: "Tank Monitor: interface", favicon: [ICON] },
      // BaseLayout: without the bar for opening documents of other hosts.
      uiConfig: {
        url: "/openapi.json",
        layout: "BaseLayout",
        docExpansion: "list",
        tryItOutEnabled: true,
        validatorUrl: null,
      } as never,
    });
  });
}
