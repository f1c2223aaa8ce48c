// The frame of all screens: navigation, the open screen, and what the person should know wherever they are.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Navigation } from "./components/navigation.tsx";
import { Notices } from "./components/notices.tsx";
import { ErrorState } from "./components/states.tsx";
import { EventFeedPoller } from "./events.tsx";
import { timeOfDay } from "./format.ts";
import { unreachableSince } from "./live.ts";
import { href, type Left, linkThatWas, location, type Match, match } from "./location.ts";
import { me } from "./me.ts";
import { ROUTES } from "./routes.ts";
import { isCustomer, loadSession, may } from "./session.ts";

const sessionError = signal<unknown>(undefined);

/** How long the page waits before it tries again to find out who is signed in. */
const RETRY_SESSION_MS = 5_000;

async function tryLoadSession(): Promise<void> {
  try {
    await loadSession();
    sessionError.value = undefined;
  } catch (error) {
    sessionError.value = error;
  }
}

export function App() {
  const route = match.value === undefined ? undefined : ROUTES[match.value.path];
  const isPublic = route?.isPublic === true;
  const isSessionLoading = !isPublic && me.value === undefined;
  useEffect(() => {
    if (isSessionLoading) tryLoadSession();
  }, [isSessionLoading]);
  if (isPublic) return <OpenScreen />;
  if (sessionError.value !== undefined) return <SessionError error={sessionError.value} />;
  // While it is found out who is signed in, the screen is loaded with its data, and shown when the role is known. Until then the
  // page looks as index.html does, so that nothing moves.
  return (
    <>
      {isSessionLoading ? <p class="starting">Loading…</p> : null}
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a part of the page */}
      <a class="skip" href="#main" hidden={isSessionLoading} onClick={skipToContent}>
        Skip to the content
      </a>
      <EventFeedPoller />
      <div class="frame" hidden={isSessionLoading}>
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

function SessionError({ error }: { readonly error: unknown }) {
  useEffect(() => {
    // Random, so that all pages do not return at once after a restart of the service.
    const timer = setTimeout(tryLoadSession, RETRY_SESSION_MS * (0.9 + Math.random() * 0.2));
    return () => clearTimeout(timer);
  }, [error]);
  return (
    <main class="page">
      <ErrorState error={error} retry={tryLoadSession} />
    </main>
  );
}

/** By code: with <base>, the link itself leads to the fleet. */
function skipToContent(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function ConnectionNotice() {
  if (unreachableSince.value === undefined) return null;
  return (
    <p class="banner" role="status">
      The service has been unreachable since {timeOfDay(unreachableSince.value)}. The data shown is from that time; the page
      reconnects automatically.
    </p>
  );
}

function OpenScreen() {
  const main = useRef<HTMLElement>(null);
  const target = match.value;
  const params = JSON.stringify(target?.params);
  useFocusOnHeading(main, `${target?.path} ${params}`);
  const { left } = location.value;
  useEffect(() => (left === undefined ? undefined : restorePlace(left)), [location.value]);
  return (
    <main class="page" id="main" ref={main} tabIndex={-1}>
      {target === undefined ? <NotFound /> : <RouteScreen key={`${target.path} ${params}`} {...target} />}
    </main>
  );
}

function RouteScreen({ path, params }: Match) {
  const { screen: Screen, role } = ROUTES[path];
  return role === undefined || may(role) ? <Screen params={params} /> : <NotAllowed />;
}

/** On every navigation but the first, so that screen readers read the new title. */
function useFocusOnHeading(main: { readonly current: HTMLElement | null }, place: string): void {
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (before.current !== undefined && before.current !== place) {
      scrollTo(0, 0);
      (main.current?.querySelector("h1") ?? main.current)?.focus({ preventScroll: true });
    }
    before.current = place;
  }, [main, place]);
}

/** After this, a person may be reading what is shown. */
const RESTORE_MS = 10_000;

/**
 * Scrolls as far as the page is long, and focuses the link that was followed, when the data arrives, unless the person does something
 * first.
 */
function restorePlace({ scrollY: to, followed }: Left): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const stop = () => controller.abort();
  const restore = () => {
    const link = followed && linkThatWas(followed);
    link?.focus({ preventScroll: true });
    scrollTo(0, to);
    if (Math.abs(scrollY - to) < 1 && (followed === undefined || link !== undefined)) stop();
  };
  const resized = new ResizeObserver(restore);
  const changed = new MutationObserver(restore);
  signal.addEventListener("abort", () => {
    resized.disconnect();
    changed.disconnect();
  });
  for (const type of ["wheel", "touchstart", "pointerdown", "keydown"]) addEventListener(type, stop, { signal });
  const timer = setTimeout(stop, RESTORE_MS);
  signal.addEventListener("abort", () => clearTimeout(timer));
  resized.observe(document.documentElement);
  changed.observe(document.body, { childList: true, subtree: true });
  return stop;
}

function NotFound() {
  return (
    <>
      <h1 tabIndex={-1}>Page not found</h1>
      <p>
        The address may be mistyped, or out of date. <a href={href("/")}>Go to {isCustomer() ? "your tanks" : "the fleet"}</a>
      </p>
    </>
  );
}

function NotAllowed() {
  return (
    <>
      <h1 tabIndex={-1}>Your role does not allow this</h1>
      <p>
        {may("viewer") ? "An administrator can give you another one." : "This page is for your supplier."}{" "}
        <a href={href("/")}>{may("viewer") ? "Go to the fleet" : "Go to your tanks"}</a>
      </p>
    </>
  );
}
