// platformatic.ts PACKAGES DATABASE_URL: Platformatic DB's plugins on Fastify, set up as in its documentation.

import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { load } from "../contestants/packages.ts";

type Plugin = { readonly default: FastifyPluginAsync<Record<string, unknown>> };
type Fastify = { readonly default: (options: { readonly logger: boolean }) => FastifyInstance };

const [packages = "", connectionString = ""] = process.argv.slice(2);
const { default: Fastify } = await load<Fastify>(packages, "fastify");
const { default: mapper } = await load<Plugin>(packages, "@platformatic/sql-mapper");
const { default: openapi } = await load<Plugin>(packages, "@platformatic/sql-openapi");

const app = Fastify({ logger: false });
await app.register(mapper, { connectionString, log: app.log });
await app.register(openapi);
console.log(await app.listen({ port: 0, host: "127.0.0.1" }));
