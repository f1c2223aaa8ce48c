// Calls to the service over HTTP, repeated while it cannot be reached, has too much to do, or its database is away.

import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../domain/errors.ts";

const REQUEST_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** A service that asks for more is not believed. */
const LONGEST_ASKED_MS = 60_000;

export type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

type Call = {
  readonly method?: "GET" | "POST" | "PUT";
  readonly path: string;
  /** JSON. */
  readonly text?: string;
  /** Told before each further attempt. */
  readonly again?: () => void;
  /** Ends it, wherever it is. */
  readonly hurry?: AbortSignal | undefined;
};

/** Somebody with a key at an address. What trying again may mend is tried again; every other answer is handed over. */
export type Caller = (call: Call) => Promise<Answer>;

export function caller(url: string, key: string): Caller {
  return async (call) => {
    for (let attempt = 0; ; attempt++) {
      const answer = await attempted(url, key, call);
      if ("status" in answer) return answer;
      const { afterMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) } = answer;
      await pause(Math.min(LONGEST_ASKED_MS, afterMs), undefined, call.hurry === undefined ? {} : { signal: call.hurry });
      call.again?.();
    }
  };
}

/** Whether somebody answers there at all: who mistypes an address is told so, and not kept waiting. */
export async function isThere(url: string): Promise<boolean> {
  try {
    await (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(REQUEST_MS) })).text();
    return true;
  } catch {
    return false;
  }
}

/** Of an answer that should have been another one: what the service said, or its status. */
export function complaintOf({ status, body }: Answer, doing: string): UserError {
  const detail = typeof body["detail"] === "string" ? body["detail"] : "it does not say why";
  const errors = Array.isArray(body["errors"]) ? ` ${JSON.stringify(body["errors"].slice(0, 3))}` : "";
  return new UserError(`${doing}: the service answers ${status}: ${detail}${errors}`);
}

async function attempted(url: string, key: string, call: Call): Promise<Answer | { readonly afterMs: number | undefined }> {
  const { method = "GET", path, text, hurry } = call;
  hurry?.throwIfAborted();
  const end = new AbortController();
  const abort = (): void => end.abort();
  const timer = setTimeout(abort, REQUEST_MS);
  hurry?.addEventListener("abort", abort);
  const headers = { "x-api-key": key, ...(text === undefined ? {} : { "content-type": "application/json" }) };
  try {
    // The key is for this address alone.
    const how = { method, headers, signal: end.signal, redirect: "manual" } as const;
    const response = await fetch(url + path, text === undefined ? how : { ...how, body: text });
    const { status } = response;
    const words = await response.text();
    if (status !== 429 && status < 500) return { status, body: objectIn(words) };
    return { afterMs: secondsIn(response.headers.get("retry-after")) };
  } catch (error) {
    if (hurry?.aborted) throw error;
    return { afterMs: undefined };
  } finally {
    clearTimeout(timer);
    hurry?.removeEventListener("abort", abort);
  }
}

function secondsIn(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
}

/** Whatever stands in front of the service may answer with anything. */
function objectIn(words: string): Answer["body"] {
  try {
    const value: unknown = JSON.parse(words);
    return typeof value === "object" && value !== null ? (value as Answer["body"]) : {};
  } catch {
    return {};
  }
}
