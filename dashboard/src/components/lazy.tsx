// A component in a file of its own, because it is large: it is loaded when it is first shown.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorState, Loading } from "./states.tsx";

export function lazy<Props extends object>(load: () => Promise<{ readonly default: ComponentType<Props> }>) {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [Component, setComponent] = useState(() => loaded);
    const [error, setError] = useState<unknown>();
    useEffect(() => {
      if (Component !== undefined) return;
      load().then(
        (module) => {
          loaded = module.default;
          setComponent(() => module.default);
        },
        (reason) => reload(wasReloaded() ? reason : undefined).catch(setError),
      );
    }, []);
    const isUnreachable = error === UNREACHABLE;
    useEffect(() => {
      if (!isUnreachable) return;
      // What is typed in a dialog would be lost. Random, so that all pages do not return at once after a restart of the service.
      const retry = () => document.querySelector("dialog[open]") === null && reload().catch(setError);
      const timer = setInterval(retry, RETRY_MS * (0.9 + Math.random() * 0.2));
      return () => clearInterval(timer);
    }, [isUnreachable]);
    if (error !== undefined) return <ErrorState error={error} retry={() => reload().catch(setError)} />;
    return Component === undefined ? <Loading /> : <Component {...props} />;
  };
}

const RELOADED_AT = "reloaded-at";
const RELOAD_TIMEOUT_MS = 10_000;

/** In the last minute: the new page did not help. */
const wasReloaded = (): boolean => Date.now() - Number(sessionStorage.getItem(RELOADED_AT) ?? 0) < 60_000;

const RETRY_MS = 5_000;
const UNREACHABLE = new Error("The service could not be reached, or the connection was lost.");

/**
 * After an update of the service, the files of the page that is still open are gone, and the new page has others. Browsers remember
 * that an import failed, so that only a new page can try again. Throws if the page cannot be loaded, or `reason` if a new one would
 * not help: the open one then stays.
 */
async function reload(reason?: unknown): Promise<void> {
  const request = { cache: "no-store", signal: AbortSignal.timeout(RELOAD_TIMEOUT_MS) } as const;
  const response = await fetch(globalThis.location.href, request).catch(() => undefined);
  if (response?.ok !== true) throw UNREACHABLE;
  if (reason !== undefined) throw reason;
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  globalThis.location.reload();
}
