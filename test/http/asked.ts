// A caller of the doors that write: sends JSON, and gives status, headers and the parsed answer.

import type { Service } from "../support/service.ts";

export type Answered = {
  readonly status: number;
  readonly headers: Headers;
  /** As loose as a caller's view of it. */
  readonly body: Readonly<Record<string, unknown>>;
};

export type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answered>;

export function asking({ url }: Pick<Service, "url">, key: string): Ask {
  return async (method, path, body, headers = {}) => {
    const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    const sent = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const answer = await fetch(url + path, {
      method,
      headers: { "x-api-key": key, ...type, ...headers },
      ...(body === undefined ? {} : { body: sent }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === "" ? {} : JSON.parse(text) };
  };
}
