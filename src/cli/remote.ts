// A running service, over HTTP: with patience where trying again helps, and words for everything that may stand in between.

import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { UserError } from "../domain/errors.ts";
import { isWellFormedSecret } from "../domain/key.ts";
import { quoted } from "../domain/text.ts";
import { type Answer, accepted, retryAfter } from "./problem.ts";
import { queryOf, type Request, type Service } from "./request.ts";
import { BrokenOff, unreachable } from "./unreachable.ts";

/** Longer than anything should take that is not stuck. */
const PATIENCE_MS = 120_000;
const TRIES = 4;
/** A service that asks for more is busy for longer than anyone waits for a command. */
const LONGEST_PAUSE_S = 3;
const BROKEN_PAUSE_S = 0.5;
/** Below this, packing saves nothing worth the while. */
const PACKED_FROM = 65_536;

const packed = promisify(gzip);

type Place = { readonly base: string; readonly key: string };

export function remoteService(url: string, key: string | null): Service {
  const place = { base: baseOf(url), key: keyOf(key) };
  return { ask: async (request) => accepted(ofTheService(place.base, await patiently(place, request))) };
}

function baseOf(given: string): string {
  const url = /^https?:\/\//i.test(given) && URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined)
    throw new UserError(`--url must be an address such as https://tanks.example.com, not ${quoted(given)}`, 2);
  if (url.username !== "" || url.password !== "") {
    throw new UserError("--url must not hold a name or a password; the key goes into TANK_MONITOR_KEY", 2);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** It is not repeated, whatever is wrong with it. */
function keyOf(key: string | null): string {
  if (key === null || key === "") {
    throw new UserError("a running service asks for a key of the role manage: put it into TANK_MONITOR_KEY, or use --key", 2);
  }
  if (!isWellFormedSecret(key)) throw new UserError("the key given with --url is mistyped or cut off", 2);
  return key;
}

/** Sent again where the service asks for it, or broke off, and where that cannot do harm. */
async function patiently(place: Place, request: Request): Promise<Answer> {
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const headers = request.makes === true ? { "idempotency-key": randomUUID() } : {};
  for (let tries = 1; ; tries++) {
    const answer = await send(place, request, body, headers).catch(unlessBrokenOff);
    const seconds = answer instanceof BrokenOff ? BROKEN_PAUSE_S : (retryAfter(answer) ?? 1);
    const isLast = tries >= TRIES || seconds > LONGEST_PAUSE_S || !mayHelp(answer, request);
    if (!isLast) await pause(seconds * 1000);
    else if (answer instanceof BrokenOff) throw answer;
    else return answer;
  }
}

function unlessBrokenOff(error: unknown): BrokenOff {
  if (error instanceof BrokenOff) return error;
  throw error;
}

function mayHelp(answer: Answer | BrokenOff, { unrepeatable }: Request): boolean {
  if (answer instanceof BrokenOff || answer.status === 503) return unrepeatable !== true;
  return answer.status === 429;
}

async function send({ base, key }: Place, request: Request, body: string | undefined, more: object): Promise<Answer> {
  const query = queryOf(request);
  const url = `${base}${request.path}${query === "" ? "" : `?${query}`}`;
  const isLarge = body !== undefined && body.length >= PACKED_FROM;
  const headers = {
    "x-api-key": key,
    accept: "application/json, application/problem+json",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(isLarge ? { "content-encoding": "gzip" } : {}),
    ...more,
  };
  try {
    const response = await fetch(url, {
      method: request.method,
      headers,
      // The key is for this address alone.
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(body === undefined ? {} : { body: isLarge ? await packed(body) : body }),
    });
    return heard(base, response, await response.text());
  } catch (error) {
    throw error instanceof UserError ? error : unreachable(base, request, error);
  }
}

function heard(base: string, { status, headers }: Response, text: string): Answer {
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    throw new UserError(`${base} sends callers on to ${quoted(location)}. If that is right, use it as --url`);
  }
  const kept = ["content-type", "retry-after"].map((name) => [name, headers.get(name) ?? ""] as const);
  return { status, headers: Object.fromEntries(kept), body: jsonIn(text) };
}

/** Whatever is not JSON is not of the service, but of something in between, or of something else altogether. */
function ofTheService(base: string, answer: Answer): Answer {
  const { status, headers, body } = answer;
  const mediaType = (headers["content-type"] ?? "").split(";")[0] ?? "";
  if (status === 204 || (body !== undefined && /^application\/(?:problem\+)?json$/i.test(mediaType))) return answer;
  const who = status >= 500 ? "a proxy that does not reach the service, or something else," : "something else than the service";
  const what = `HTTP ${status} with ${mediaType === "" ? "no media type" : quoted(mediaType)} instead of JSON`;
  throw new UserError(`${who} answers at ${base}: ${what}. Is --url right?`);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
