// Starts the dashboard in the page.

import { render } from "preact";
import { App } from "./app.tsx";
import { startLive } from "./live.ts";
import { followLinks } from "./location.ts";

const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  followLinks();
  startLive();
  render(<App />, root);
}
