// Starts the dashboard in the page.

import { render } from "preact";
import { App } from "./app.tsx";
import { startLive } from "./live.ts";
import { followLinks, match } from "./location.ts";
import { ROUTES } from "./routes.ts";

const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  followLinks();
  startLive();
  // While it is found out who is signed in. The screen itself reports what goes wrong.
  if (match.value !== undefined) ROUTES[match.value.path].load().catch(() => {});
  render(<App />, root);
}
