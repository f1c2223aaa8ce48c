// Live data. What the open screen shows is requested again every 3 seconds while the tab is visible, every 60 seconds in the
// background, and less often while the service cannot be reached. One loop serves all; each watched request keeps only its latest
// result, so that a screen that is left open for weeks does not grow.

import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError } from "../../client/src/index.ts";
import { me, otherAccount } from "./me.ts";
import { isSignedOut, loadSession, redirectToSignIn, sessionEndedInDialog } from "./session.ts";

const VISIBLE_MS = 3_000;
const HIDDEN_MS = 60_000;
const MAX_BACKOFF_MS = 60_000;

type Load<T> = (signal: AbortSignal) => Promise<T>;

export type Live<T> = {
  /** The latest result; undefined before the first. While another `key` is loaded, that of the one before. */
  readonly data: T | undefined;
  /** Whether `data` is of the current `key`. */
  readonly isCurrent: boolean;
  /** Why the last attempt failed; undefined after a success. */
  readonly error: unknown;
  /** Does not throw: `error` says why it failed. A change that was stored before it has not failed. */
  readonly refresh: () => Promise<void>;
};

type Watched = { readonly refresh: () => Promise<void> };

const watched = new Set<Watched>();
/** Rounds that failed one after the other. */
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let isRunning = false;

/** Since when the service cannot be reached; undefined while it can. */
export const unreachableSince = signal<number | undefined>(undefined);

/** A request that is sent again and again while the component is shown. Another `key` is another request. */
export function useLive<T>(key: string, load: Load<T>): Live<T> {
  const [state, setState] = useState<State<T>>({ key });
  const watch = useMemo(() => createWatch(load, (result) => setState((before) => merged(key, before, result))), [key]);
  useEffect(() => {
    watched.add(watch);
    watch.refresh().catch(() => {});
    return () => {
      watched.delete(watch);
      watch.stop();
    };
  }, [watch]);
  const isCurrent = state.key === key;
  const refresh = () => watch.refresh().catch(() => {});
  return { data: state.data, isCurrent, error: isCurrent ? state.error : undefined, refresh };
}

type Result<T> = { readonly data: T } | { readonly error: unknown };
type State<T> = { readonly key: string; readonly data?: T | undefined; readonly error?: unknown };

/** After an error, what was shown before stays. Nothing is rendered again for a result that is the same object (304). */
function merged<T>(key: string, before: State<T>, result: Result<T>): State<T> {
  if ("error" in result) return { key, data: before.key === key ? before.data : undefined, error: result.error };
  const isSame = before.key === key && before.data === result.data && before.error === undefined;
  return isSame ? before : { key, data: result.data };
}

function createWatch<T>(load: Load<T>, report: (result: Result<T>) => void) {
  let controller: AbortController | undefined;
  let latest: Promise<void> | undefined;
  const stop = () => controller?.abort();
  /** Whoever waits for a request that was aborted for another one waits for that one. */
  const newerThan = (own: AbortController) => (controller === own ? undefined : latest);
  const request = async (own: AbortController) => {
    try {
      const data = await load(own.signal);
      if (own.signal.aborted) return newerThan(own);
      report({ data });
    } catch (error) {
      if (own.signal.aborted) return newerThan(own);
      if (isSignedOut(error)) redirectToSignIn();
      else report({ error });
      throw error;
    }
  };
  const refresh = () => {
    stop();
    controller = new AbortController();
    latest = request(controller);
    return latest;
  };
  return { refresh, stop };
}

/** Requests everything that is shown, now: after a change, or when the person asks for it. */
export async function refreshAll(): Promise<void> {
  // An open dialog waits until its person is signed in again.
  const isWaiting = otherAccount.value !== undefined || sessionEndedInDialog.value;
  const results = await Promise.allSettled(isWaiting ? [loadSession()] : Array.from(watched, ({ refresh }) => refresh()));
  const isFailed = results.some((result) => result.status === "rejected" && isOutage(result.reason));
  failures = isFailed ? failures + 1 : 0;
  if (!isFailed) unreachableSince.value = undefined;
  else unreachableSince.value ??= Date.now();
}

/** A response that rejects the request, such as one for a deleted object, or that fails because of one object, is no outage. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  const { code, status } = error;
  if (code === "data_damaged" || code === "internal") return false;
  return status < 400 || status === 429 || status >= 500;
}

export function startLive(): void {
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && runSoon());
  addEventListener("online", runSoon);
  // Another account may have signed in in the window beside it.
  addEventListener("focus", runSoon);
  schedule();
}

function runSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(run, 0);
}

async function run(): Promise<void> {
  // One round at a time: the next is scheduled when it ends.
  if (isRunning) return;
  isRunning = true;
  try {
    if (me.value !== undefined) await refreshAll();
  } finally {
    isRunning = false;
    schedule();
  }
}

function schedule(): void {
  const interval = document.visibilityState === "visible" ? VISIBLE_MS : HIDDEN_MS;
  const delay = Math.min(interval * 2 ** failures, MAX_BACKOFF_MS);
  clearTimeout(timer);
  // Random, so that all screens do not return at once after a restart of the service.
  timer = setTimeout(run, delay * (0.9 + Math.random() * 0.2));
}
