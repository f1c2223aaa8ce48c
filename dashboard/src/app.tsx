// The frame of all screens: navigation, the open screen, and what the person should know wherever they are.

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Navigation } from "./components/navigation.tsx";
import { Notices } from "./components/notices.tsx";
import { ErrorState, Loading } from "./components/states.tsx";
import { Follower } from "./events.tsx";
import { unreachableSince } from "./live.ts";
import { href, match } from "./location.ts";
import { ROUTES, type ScreenProps } from "./routes.ts";
import { loadSession, may, me } from "./session.ts";

const sessionError = signal<unknown>(undefined);

function startSession(): void {
  sessionError.value = undefined;
  loadSession().catch((error) => {
    sessionError.value = error;
  });
}

export function App() {
  const route = match.value === undefined ? undefined : ROUTES[match.value.path];
  const isPublic = route?.isPublic === true;
  const isMissing = !isPublic && me.value === undefined;
  useEffect(() => {
    if (isMissing) startSession();
  }, [isMissing]);
  if (isPublic) return <OpenScreen />;
  if (sessionError.value !== undefined) {
    return (
      <main class="page">
        <ErrorState error={sessionError.value} retry={startSession} />
      </main>
    );
  }
  if (isMissing) return <Loading />;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Follower />
      <div class="frame">
        <Navigation />
        <div class="content">
          <ConnectionNotice />
          <OpenScreen />
        </div>
      </div>
      <Notices />
    </>
  );
}

function ConnectionNotice() {
  if (unreachableSince.value === undefined) return null;
  const since = new Date(unreachableSince.value).toLocaleTimeString([], { timeStyle: "short" });
  return (
    <p class="banner" role="status">
      The service cannot be reached since {since}. What you see is from then; it is tried again by itself.
    </p>
  );
}

type Opened = { readonly path: string; readonly Screen: ComponentType<ScreenProps> };

/** The screen before stays until the next one is loaded. */
function OpenScreen() {
  const [opened, setOpened] = useState<Opened>();
  const [error, setError] = useState<unknown>();
  const main = useRef<HTMLElement>(null);
  const target = match.value;
  const path = target?.path;
  const role = path === undefined ? undefined : ROUTES[path].role;
  const isAllowed = role === undefined || may(role);
  const load = () => {
    setError(undefined);
    if (path === undefined) return;
    ROUTES[path].load().then(
      ({ default: Screen }) => match.value?.path === path && setOpened({ path, Screen }),
      (reason) => reloadOnce() || setError(reason),
    );
  };
  useEffect(load, [path]);
  useFocusOnHeading(main, opened?.path === path ? `${path} ${JSON.stringify(target?.params)}` : undefined);
  return (
    <main class="page" id="main" ref={main} tabIndex={-1}>
      {target === undefined ? <UnknownPlace /> : null}
      {isAllowed ? null : <NotAllowed />}
      {error === undefined ? null : <ErrorState error={error} retry={load} />}
      {opened !== undefined && target !== undefined && opened.path === path && error === undefined && isAllowed ? (
        <opened.Screen key={JSON.stringify(target.params)} params={target.params} />
      ) : null}
      {opened === undefined && error === undefined && target !== undefined ? <Loading /> : null}
    </main>
  );
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

/** On every navigation but the first, so that screen readers read the new title. */
function useFocusOnHeading(main: { readonly current: HTMLElement | null }, place: string | undefined): void {
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (place === undefined) return;
    if (before.current !== undefined && before.current !== place) {
      scrollTo(0, 0);
      (main.current?.querySelector("h1") ?? main.current)?.focus({ preventScroll: true });
    }
    before.current = place;
  }, [main, place]);
}

function UnknownPlace() {
  return (
    <>
      <h1 tabIndex={-1}>There is nothing here</h1>
      <p>
        The address may be mistyped, or out of date. <a href={href("/")}>Go to the fleet</a>
      </p>
    </>
  );
}

function NotAllowed() {
  return (
    <>
      <h1 tabIndex={-1}>This is not for your role</h1>
      <p>
        An administrator can give you another one. <a href={href("/")}>Go to the fleet</a>
      </p>
    </>
  );
}
