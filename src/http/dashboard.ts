// The dashboard: one page for the paths of all screens, also of those that do not exist, and its files, which `dashboard/build.js`
// has compressed. Files have hashed names, so browsers keep them; the page is requested again each time, and names the files.

import { readFile } from "node:fs/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { PATHS } from "../../dashboard/src/paths.ts";
import { RequestError } from "../domain/errors.ts";
import { type Encoding, negotiateEncoding } from "./encoding.ts";
import { etagOf, isKnownTag } from "./handler.ts";
import { pathOf } from "./paths.ts";

const DIST = new URL("../../dashboard/dist/", import.meta.url);
const FILES_PATH = "/assets/:name";
const FILE_NAME = /^[\w-]+\.(?<extension>js|css|svg|json)$/;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  json: "application/json",
};
const SUFFIXES: Readonly<Record<Encoding, string>> = { br: ".br", gzip: ".gz", identity: "" };

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-cache",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

const BASE = '<base href="./">';

const NOT_BUILT = `<!DOCTYPE html>
<title>Tank Monitor</title>
<p>The dashboard has not been built. Run <code>npm run prepare</code> in the folder of Tank Monitor, then load this page again.</p>
`;

export function registerDashboard(app: FastifyInstance): void {
  for (const path of PATHS) app.get(path, (request, reply) => sendScreen(request, reply, path));
  /** At most one for each file that exists. */
  const files = new Map<string, Promise<Buffer>>();
  app.get(FILES_PATH, async (request, reply) => {
    request.routePath = FILES_PATH;
    const { name = "" } = request.params as { readonly name?: string };
    const { extension = "" } = FILE_NAME.exec(name)?.groups ?? {};
    if (extension === "") throw fileUnknown();
    const encoding = negotiateEncoding(request, reply);
    const bytes = await readOnce(files, `assets/${name}${SUFFIXES[encoding]}`);
    if (encoding !== "identity") reply.header("content-encoding", encoding);
    reply.header("cache-control", "public, max-age=31536000, immutable");
    return reply.header("content-type", MEDIA_TYPES[extension]).send(bytes);
  });
}

/** Paths of the interfaces and of files: a browser sees the same errors there as other clients. */
const NO_SCREENS = /^\/(?:v\d+|insight|ingest|manage|auth|docs|openapi\.json|assets|healthz|readyz|metrics)(?:\/|$)/;

/** Whether a person has opened a path that does not exist in a browser. */
export function isUnknownScreen({ is404, method, headers, raw }: FastifyRequest): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return is404 && isRead && headers.accept?.includes("text/html") === true && !NO_SCREENS.test(pathOf(raw.url));
}

/** The page says that there is nothing, with the navigation beside it. */
export async function sendUnknownScreen(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  request.errorCode = "route_unknown";
  const page = await readPage(pathOf(request.raw.url));
  return page === undefined ? sendNotBuilt(reply) : reply.code(404).headers(PAGE_HEADERS).send(page);
}

async function sendScreen(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
  request.routePath = path;
  const given = pathOf(request.raw.url);
  // The router takes it for the root.
  if (given === "*") throw fileUnknown();
  // Relative URLs in the page would lead elsewhere.
  if (path !== "/" && given.endsWith("/")) return reply.redirect(`../${given.split("/").at(-2)}`, 301);
  const page = await readPage(path);
  if (page === undefined) return sendNotBuilt(reply);
  const etag = await etagOf(page);
  reply.headers(PAGE_HEADERS).header("etag", etag);
  return isKnownTag(request, etag) ? reply.code(304).send() : reply.send(page);
}

/** Read each time, so that a new build is served without a restart. It is small. */
async function readPage(path: string): Promise<Buffer | undefined> {
  const template = await readFile(new URL("index.html", DIST), "utf8").catch(() => undefined);
  return template === undefined ? undefined : Buffer.from(template.replace(BASE, `<base href="${rootFrom(path)}">`));
}

const sendNotBuilt = (reply: FastifyReply): FastifyReply =>
  reply.code(503).headers(PAGE_HEADERS).header("cache-control", "no-store").send(NOT_BUILT);

/** URLs in the page are relative to the root, so that it works behind a proxy that adds a prefix to all paths. */
const rootFrom = (path: string): string => "../".repeat(path.split("/").length - 2) || "./";

/** One that does not exist is not kept. */
async function readOnce(files: Map<string, Promise<Buffer>>, name: string): Promise<Buffer> {
  const known = files.get(name) ?? readFile(new URL(name, DIST));
  files.set(name, known);
  try {
    return await known;
  } catch {
    files.delete(name);
    throw fileUnknown();
  }
}

const fileUnknown = (): RequestError =>
  new RequestError("route_unknown", "There is no such file. The page may be out of date: load it again.");
