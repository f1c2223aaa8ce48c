// Starts the dashboard in the page.

import { render } from "preact";
import { App } from "./app.tsx";
import { startClock } from "./format.ts";
import { startLive } from "./live.ts";
import { followLinks } from "./location.ts";

const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  followLinks();
  startClock();
  startLive();
  render(<App />, root);
}
