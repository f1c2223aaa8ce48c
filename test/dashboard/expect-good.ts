// What must hold on every screen.

import assert from "node:assert/strict";
import type { Watched } from "../support/chromium.ts";
import { overflow, seriousViolations } from "./support.ts";

/** A screen that is left ends its requests. */
export const errorsOf = ({ errors }: Watched): string[] => errors.filter((text) => !text.endsWith(" failed"));

/** Nothing serious for axe, nothing wider than the window, no errors, and no request to another host. */
export async function expectGood(screen: Watched): Promise<void> {
  const { page, requests } = screen;
  assert.equal(await overflow(page), 0, "the page can be scrolled sideways");
  assert.deepEqual(await seriousViolations(page), []);
  assert.deepEqual(errorsOf(screen), []);
  const hosts = new Set(requests.map((url) => new URL(url).host));
  assert.deepEqual([...hosts], [new URL(page.url()).host]);
}
