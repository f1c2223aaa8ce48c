// What is shown instead of data: while it is loaded, if there is none, and if it could not be loaded.

import type { ComponentChildren } from "preact";
import { ApiError } from "../../../client/src/index.ts";
import { isOutage, type Live } from "../live.ts";
import { Button } from "./button.tsx";
import { messageOf } from "./error-message.ts";

/** Appears only if loading takes a while. */
export function Loading() {
  return (
    <p class="state loading" role="status">
      Loading…
    </p>
  );
}

/** `title`: what there is none of; the content says what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

type ErrorProps = { readonly error: unknown; readonly retry?: () => unknown };

export function ErrorState({ error, retry }: ErrorProps) {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div class="state">
      <div class="state-text" role="alert">
        <h2>Something went wrong</h2>
        <p>{messageOf(error)}</p>
      </div>
      {/* Not in the alert: another attempt has another id, and would be read out again. */}
      {requestId === undefined ? null : <p class="dim">Request {requestId}</p>}
      {retry === undefined ? null : <Button onClick={() => retry()}>Try again</Button>}
    </div>
  );
}

/** Instead of data that is undefined. */
export function NotLoaded({ live: { error, refresh } }: { readonly live: Pick<Live<unknown>, "error" | "refresh"> }) {
  return error === undefined ? <Loading /> : <ErrorState error={error} retry={refresh} />;
}

/** Above data that could not be loaded again. An outage is announced once for the whole page, which keeps its data. */
export function RefreshError({ live: { data, error, refresh } }: { readonly live: Omit<Live<unknown>, "isCurrent"> }) {
  const isAnnounced = data !== undefined && isOutage(error);
  return error === undefined || isAnnounced ? null : <ErrorState error={error} retry={refresh} />;
}
