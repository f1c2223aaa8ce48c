// Questions to a running service, over HTTP as anyone would ask them.

import assert from "node:assert/strict";

export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };
export type Item = Readonly<Record<string, unknown>>;
export type List = {
  readonly object: string;
  readonly data: readonly Item[];
  readonly page: number;
  readonly size: number;
  readonly total_pages: number;
  readonly total_items: number;
};

type Place = { readonly url: string };

export async function ask({ url }: Place, path: string, key?: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { headers: key === undefined ? headers : { "x-api-key": key, ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export async function statusOf(place: Place, key: string, path = "/v1/tanks"): Promise<number> {
  return (await ask(place, path, key)).status;
}

export async function item(place: Place, path: string, key: string): Promise<Item> {
  const { status, text } = await ask(place, path, key);
  assert.equal(status, 200, text);
  return JSON.parse(text) as Item;
}

export async function list(place: Place, path: string, key: string): Promise<List> {
  const found = (await item(place, path, key)) as unknown as List;
  assert.equal(found.object, "list");
  return found;
}

/** Asks again and again until the status comes, and tells how long that took. */
export async function untilStatus(place: Place, key: string, status: number, milliseconds: number): Promise<number> {
  const started = performance.now();
  for (;;) {
    const got = await statusOf(place, key);
    const elapsed = performance.now() - started;
    if (got === status) return elapsed;
    assert.ok(elapsed < milliseconds, `after ${Math.round(elapsed)} ms the answer is still ${got}, not ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
