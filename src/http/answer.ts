// Answers: a body with its validator, or "you have it already".

import { hash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { formOf } from "./body.ts";
import { beforeAllHasCome, isComing } from "./continue.ts";
import type { Told } from "./perform.ts";
import { JSON_TYPE } from "./route.ts";

const JSON_UTF8 = `${JSON_TYPE}; charset=utf-8`;

/**
 * Strong: equal bytes have equal tags, other bytes do not. Later, so that the tags of one turn's answers are made together:
 * each between the other steps of its own answer, they took twice as long (`store/sqlite/snapshot.ts` says why).
 */
export async function etagOf(body: string): Promise<string> {
  return `"${hash("sha256", body, "base64url").slice(0, 27)}"`;
}

export function sendValidated(request: FastifyRequest, reply: FastifyReply, body: string, etag: string): void {
  if (formOf(request) !== "") {
    // No cache keys an answer by the body of a GET.
    sendFresh(reply, JSON_UTF8, body);
    return;
  }
  reply.header("cache-control", "private, no-cache");
  reply.header("etag", etag);
  const known = request.headers["if-none-match"];
  if (known !== undefined && matches(known, etag)) reply.code(304).send();
  else reply.header("content-type", JSON_UTF8).send(body);
}

/** If-None-Match compares weakly (RFC 9110, 13.1.2). */
function matches(header: string, etag: string): boolean {
  return header === etag || header.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}

/** What only a write or a managing read says: a status of its own, headers of its own, or nothing at all. */
export function sendTold(reply: FastifyReply, { status, headers, mediaType, text }: Told): void {
  reply.code(status).headers(headers);
  if (text !== undefined) sendFresh(reply, mediaType, text);
  else reply.header("cache-control", "no-store").send();
}

/** The connection of whoever is still sending stays open until all has come: closed before, it takes the answer with it. */
export function sendRefusal(request: FastifyRequest, reply: FastifyReply, body: string): FastifyReply {
  const { raw, method } = request;
  if (!isComing(raw) || method === "HEAD") return reply.send(body);
  return reply.header("content-length", Buffer.byteLength(body)).send(Readable.from(beforeAllHasCome(raw, body)));
}

/** Never to be kept by a cache. */
export function sendFresh(reply: FastifyReply, mediaType: string, body: string): void {
  reply.header("content-type", mediaType).header("cache-control", "no-store").send(body);
}
