// Where a person was before they had to sign in. The link of a mail opens another tab, so it is kept for that one, too.

const NAME = "return-to";
/** As long as a link is valid. */
const RETURN_PATH_LIFETIME_MS = 10 * 60_000;

/** A path of this service, and nothing else. */
const checked = (path: string | null): string | undefined => (path !== null && /^\/(?![/\\])/.test(path) ? path : undefined);

export function keepReturn(path: string | null): void {
  const to = checked(path);
  if (to !== undefined) localStorage.setItem(NAME, JSON.stringify({ to, at: Date.now() }));
}

/** `given`: that of this tab. */
export function takeReturn(given: string | null): string {
  const kept = JSON.parse(localStorage.getItem(NAME) ?? "{}") as { to?: string; at?: number };
  localStorage.removeItem(NAME);
  const isFresh = Date.now() - (kept.at ?? 0) < RETURN_PATH_LIFETIME_MS;
  return checked(given) ?? (isFresh ? checked(kept.to ?? null) : undefined) ?? "/";
}
