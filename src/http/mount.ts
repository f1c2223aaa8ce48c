// Routes on the framework: a request that was admitted is read, asked and answered. Reads of the interface have a short way
// of their own; everything else may carry headers and a body, and answers with a status of its own.

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import type { Admission } from "./admission.ts";
import { etagOf, sendTold, sendValidated } from "./answer.ts";
import { NOBODY } from "./auth.ts";
import { formOf } from "./body.ts";
import { contentOf } from "./content.ts";
import { headersFor } from "./headers.ts";
import { queryOf, refuseBrokenPath } from "./paths.ts";
import { askerOf, NOTHING_CARRIED, readerOf, toldBy } from "./perform.ts";
import type { Room, Share } from "./room.ts";
import { type Carried, isInterface, type Means, methodOf, type Route } from "./route.ts";

export function mount(app: FastifyInstance, route: Route, admission: Admission, means: Means, room: Room): void {
  const { path, reach, body } = route;
  const entrance = reach === "open" ? undefined : { reach, bearer: route.bearer === true };
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    request.taken = path;
    if (entrance === undefined) done();
    else admission.admit(request, reply, entrance, done);
  };
  const handler = isInterface(route) ? interfaceHandler(route, means) : otherHandler(route, means, room);
  app.route({ method: methodOf(route), url: path, onRequest, config: { body }, handler });
}

function interfaceHandler(route: Route, means: Means): RouteHandlerMethod {
  const read = readerOf(route);
  const ask = askerOf(route, means);
  return async (request, reply) => {
    refuseBrokenPath(request.raw);
    const values = read(queryOf(request.raw.url), formOf(request));
    const answer = await ask(request.caller ?? NOBODY, idIn(request), values, NOTHING_CARRIED);
    const body = typeof answer === "string" ? answer : JSON.stringify(answer);
    sendValidated(request, reply, body, await etagOf(body));
    return reply;
  };
}

function otherHandler(route: Route, means: Means, room: Room): RouteHandlerMethod {
  const read = readerOf(route);
  const ask = askerOf(route, means);
  return async (request, reply) => {
    refuseBrokenPath(request.raw);
    const values = read(queryOf(request.raw.url), formOf(request));
    const caller = request.caller ?? NOBODY;
    const share = room.share(caller.key.id);
    try {
      // In one go, so that nobody here holds what was carried until it is answered.
      const answer = await carriedBy(request, route, share).then((carried) => ask(caller, idIn(request), values, carried));
      sendTold(reply, toldBy(route, answer));
    } finally {
      share.leave();
    }
    return reply;
  };
}

const idIn = (request: FastifyRequest): string => (request.params as { readonly id?: string }).id ?? "";

/** The body comes last: nobody waits for it in vain. */
async function carriedBy({ raw, contentType }: FastifyRequest, route: Route, share: Share): Promise<Carried> {
  const headers = headersFor(route, raw);
  const content = route.body === undefined ? NOTHING_CARRIED : await contentOf(raw, contentType ?? "", route.body, share);
  return { headers, body: content.body, items: content.items };
}
