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
        (reason) => reloadOnce() || setError(reason),
      );
    }, []);
    // Browsers remember that an import failed: only a new page can try again.
    if (error !== undefined) return <ErrorState error={error} retry={() => globalThis.location.reload()} />;
    return Component === undefined ? <Loading /> : <Component {...props} />;
  };
}

/** After an update of the service, the files of the page that is still open are gone: the new page has others. */
function reloadOnce(): boolean {
  const name = "reloaded-at";
  const last = Number(sessionStorage.getItem(name) ?? 0);
  if (Date.now() - last < 60_000) return false;
  sessionStorage.setItem(name, String(Date.now()));
  globalThis.location.reload();
  return true;
}
