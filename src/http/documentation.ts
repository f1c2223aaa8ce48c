// GET /openapi.json, and the page at /docs: Swagger UI served by us, which loads nothing from anywhere else.

import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { sendFresh } from "./answer.ts";
import { JSON_TYPE } from "./route.ts";

/** Swagger UI sets styles on elements and carries its icons as data; everything else comes from this host. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

export async function mountDocumentation(app: FastifyInstance, document: object): Promise<void> {
  const text = JSON.stringify(document);
  app.get("/openapi.json", (_request, reply) => sendFresh(reply, JSON_TYPE, text));
  await app.register(swagger, { mode: "static", specification: { document } } as never);
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: CONTENT_SECURITY_POLICY,
    logo: undefined,
    theme: { title: "Tank Monitor: interface" },
    uiConfig: { docExpansion: "list", tryItOutEnabled: true, validatorUrl: null } as never,
  });
}
