// Where the person is: path and query as a signal, and navigation by links and by code. What a screen shows is in the URL.

import { computed, signal } from "@preact/signals";
import { PATHS, type Path } from "./paths.ts";

/** Behind a proxy that adds a prefix to all paths, the prefix. The service sets <base> by the depth of the path. */
const BASE = new URL(".", document.baseURI).pathname.replace(/\/$/, "");

type Location = {
  readonly path: string;
  readonly query: URLSearchParams;
  /** After Back and Forward. */
  readonly left?: Left | undefined;
};

/** How the person left a place, to find it again. */
export type Left = {
  /** How far down the page was. */
  readonly scrollY: number;
  readonly followed?: FollowedLink | undefined;
};

/** A link of the content: the `nth` with this `href`. */
type FollowedLink = { readonly href: string; readonly nth: number };

function current(): Location {
  const { pathname, search } = globalThis.location;
  return { path: pathname.slice(BASE.length) || "/", query: new URLSearchParams(search) };
}

export const location = signal<Location>(current());
const path = computed(() => location.value.path);
export const query = computed(() => location.value.query);

export type Match = { readonly path: Path; readonly params: Readonly<Record<string, string>> };

/** The screen of the path, undefined where there is none. Does not change with the query. */
export const match = computed<Match | undefined>(() => {
  for (const candidate of PATHS) {
    const params = matched(candidate, path.value);
    if (params !== undefined) return { path: candidate, params };
  }
  return undefined;
});

function matched(pattern: string, given: string): Record<string, string> | undefined {
  const expected = pattern.split("/");
  const parts = given.split("/");
  if (parts.length !== expected.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, name] of expected.entries()) {
    const part = parts[index] ?? "";
    if (name.startsWith(":") && part !== "") params[name.slice(1)] = decoded(part);
    else if (name !== part) return undefined;
  }
  return params;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** For `href`. */
export const href = (to: string): string => BASE + to;

export const devicePath = (id: string): string => `/devices?id=${encodeURIComponent(id)}`;

export const tankPath = (id: string): string => `/tanks/${encodeURIComponent(id)}`;
export const customerPath = (id: string): string => `/customers/${encodeURIComponent(id)}`;

type Navigation = {
  readonly replace?: boolean;
  readonly keepScroll?: boolean;
  readonly followed?: FollowedLink | undefined;
};

/**
 * `replace`: the back button skips the current place. `keepScroll`: it leads to the same height of the page, as it does from another
 * screen; within a screen, such as after a zoom of a chart, the page stays where it is.
 */
export function navigate(to: string, { replace = false, keepScroll = isOtherPath(to), followed }: Navigation = {}): void {
  if (replace) {
    history.replaceState(null, "", href(to));
  } else {
    if (keepScroll) history.replaceState({ scrollY: globalThis.scrollY, followed } satisfies Left, "");
    history.pushState(null, "", href(to));
  }
  location.value = current();
}

const isOtherPath = (to: string): boolean => to.split("?")[0] !== location.value.path;

type Change = Readonly<Record<string, string | undefined>>;

/** The current place with other parameters; undefined and "" remove one. */
export function withQuery(change: Change): string {
  const next = new URLSearchParams(location.value.query);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return location.value.path + (text === "" ? "" : `?${text}`);
}

/** Where the person is, to come back to. */
export const here = (): string => withQuery({});

const guards = new Set<() => boolean>();

/** Back and Forward have no effect if `mayLeave` returns false. Returns a function that removes the guard. */
export function guardHistory(mayLeave: () => boolean): () => void {
  guards.add(mayLeave);
  return () => guards.delete(mayLeave);
}

/** Links to screens change the signal instead of loading the page again. */
export function followLinks(): void {
  addEventListener("popstate", ({ state }) => {
    if (![...guards].every((mayLeave) => mayLeave())) {
      history.pushState(null, "", href(here()));
      return;
    }
    location.value = { ...current(), left: (state as Left | null) ?? undefined };
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest("a");
    if (link === null || link.target !== "" || link.hasAttribute("download") || link.origin !== globalThis.location.origin)
      return;
    const to = link.pathname.slice(BASE.length) + link.search;
    const isScreen = link.pathname.startsWith(`${BASE}/`) && PATHS.some((pattern) => matched(pattern, to.split("?")[0] ?? ""));
    if (!isScreen || link.hash !== "") return;
    event.preventDefault();
    if (to !== here()) navigate(to, { keepScroll: true, followed: followedLink(link) });
  });
}

const linksTo = (href: string): HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>(`main a[href="${CSS.escape(href)}"]`),
];

function followedLink(link: HTMLAnchorElement): FollowedLink | undefined {
  const href = link.getAttribute("href") ?? "";
  const nth = linksTo(href).indexOf(link);
  return nth === -1 ? undefined : { href, nth };
}

/** Undefined while it is not on the page. */
export const linkThatWas = ({ href, nth }: FollowedLink): HTMLElement | undefined => linksTo(href)[nth];
