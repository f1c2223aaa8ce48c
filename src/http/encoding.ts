// The encodings in which documents and files are sent.

import type { FastifyReply, FastifyRequest } from "fastify";

export type Encoding = "br" | "gzip" | "identity";

/** The best that the client accepts: brotli where it accepts both. */
export function negotiateEncoding({ headers }: FastifyRequest, reply: FastifyReply): Encoding {
  const vary = reply.getHeader("vary");
  reply.header("vary", vary === undefined ? "Accept-Encoding" : `${vary}, Accept-Encoding`);
  const accepted = (headers["accept-encoding"] ?? "").split(",").flatMap((part) => {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
  });
  return (["br", "gzip"] as const).find((encoding) => accepted.includes(encoding)) ?? "identity";
}
