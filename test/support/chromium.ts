// A real browser: an installed one, which CHROMIUM names or which is found in PATH, or else, for Linux on x64, npm's.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import npmChromium from "@sparticuz/chromium";
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from "playwright-core";
import type { Lifetime } from "./service.ts";

/** The headless shell first: it needs a third less processor time. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const hasNpmBrowser = process.platform === "linux" && process.arch === "x64";

export const NO_BROWSER = `npm has no browser for ${process.platform} ${process.arch}: install Chromium, or name one in CHROMIUM`;

/** `flags` besides those that every test has. */
export async function openBrowser(flags: readonly string[] = []): Promise<Browser | undefined> {
  const executablePath = await browserPath();
  if (executablePath === undefined) return undefined;
  // Not with the flags of npm's package: they switch off what is tested, and its single process crashes when a page is closed.
  return chromium.launch({ executablePath, args: ["--no-sandbox", ...flags] });
}

/**
 * npm's browser is unpacked by the first call. The runner's global setup makes that call, because a test file that starts while
 * another one unpacks the browser would run half of it.
 */
export async function browserPath(): Promise<string | undefined> {
  return installedBrowser() ?? (hasNpmBrowser ? npmChromium.executablePath() : undefined);
}

function installedBrowser(): string | undefined {
  const named = process.env["CHROMIUM"];
  if (named !== undefined && named !== "") return named;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((file) => existsSync(file));
}

/** A page, its requests and its errors. */
export type Watched = { readonly page: Page; readonly requests: string[]; readonly errors: string[] };

const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error("violation of " + violatedDirective + " by " + blockedURI));`;

/** In a profile of its own. */
export async function openPage(life: Lifetime, browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 }, ...options });
  life.after(async () => {
    if (page.isClosed()) return;
    // The test may still be responding to a request of the page.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });
  const requests: string[] = [];
  const errors: string[] = [];
  await page.addInitScript(REPORT_VIOLATIONS);
  page.on("request", (request) => requests.push(request.url()));
  // A page that is left aborts its requests.
  const isAborted = (request: Request) => request.failure()?.errorText === "net::ERR_ABORTED";
  page.on("requestfailed", (request) => isAborted(request) || errors.push(`${request.url()} failed`));
  page.on("response", (response) => response.status() >= 400 && errors.push(`${response.url()}: ${response.status()}`));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(`${error}`));
  return { page, requests, errors };
}
