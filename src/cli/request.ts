// What a command asks for, and is given: shaped as over HTTP, whichever way it goes.

import type { Method } from "../http/route.ts";

export type Item = Readonly<Record<string, unknown>>;

export type Request = {
  readonly method: Method;
  /** As `pathTo` writes it. */
  readonly path: string;
  /** What is undefined is not asked. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** It makes something: sent under a key of its own, so that what has to be sent twice is made once. */
  readonly makes?: true;
  /** Done twice, it would not be the same. */
  readonly unrepeatable?: true;
};

/** What is refused is thrown as a `Problem`; what cannot be asked at all, as a `Complaint`. */
export type Service = { readonly ask: (request: Request) => Promise<Item> };

export function pathTo(...parts: readonly string[]): string {
  return `/manage/v1/${parts.map(encodeURIComponent).join("/")}`;
}

export function queryOf({ query = {} }: Request): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URLSearchParams(given).toString();
}
