// bare.ts BODY: Fastify alone, with a constant response.

import Fastify from "fastify";

const body = process.argv[2] ?? "";
const app = Fastify();
app.get("/v1/tanks/:id/telemetry", (_request, reply) => {
  reply.header("content-type", "application/json; charset=utf-8").send(body);
});
console.log(await app.listen({ port: 0, host: "127.0.0.1" }));
