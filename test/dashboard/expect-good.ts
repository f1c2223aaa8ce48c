// What must hold on every screen.

import assert from "node:assert/strict";
import type { Watched } from "../support/chromium.ts";
import { COLOURS, overflow, seriousViolations } from "./support.ts";

/** A screen that is left ends its requests. */
export const errorsOf = ({ errors }: Watched): string[] => errors.filter((text) => !text.endsWith(" failed"));

/** Nothing wider than the window, no errors, and no request to another host. */
export async function expectFits(screen: Watched): Promise<void> {
  const { page, requests } = screen;
  assert.equal(await overflow(page), 0, "the page can be scrolled sideways");
  assert.deepEqual(errorsOf(screen), []);
  const hosts = new Set(requests.map((url) => new URL(url).host));
  assert.deepEqual([...hosts], [new URL(page.url()).host]);
}

/** Also nothing serious for axe, which takes about a second: once for each screen and width is enough. */
export async function expectGood(screen: Watched): Promise<void> {
  await expectFits(screen);
  assert.deepEqual(await seriousViolations(screen.page), []);
}

/** The colours of the dark scheme. */
export async function expectGoodInDark({ page }: Watched): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await seriousViolations(page, COLOURS), []);
  await page.emulateMedia({ colorScheme: "light" });
}
