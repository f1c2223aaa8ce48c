// A real browser. npm has one for Linux on x64; elsewhere an installed one is used: CHROMIUM names it, or it is found in PATH.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import npmChromium from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
/** These would switch off what is tested. */
const UNSAFE_FLAGS = ["--disable-web-security", "--allow-running-insecure-content"];

export const NO_BROWSER = `npm has no browser for ${process.platform} ${process.arch}: install Chromium, or name one in CHROMIUM`;

export async function openBrowser(): Promise<Browser | undefined> {
  const installed = installedBrowser();
  if (installed !== undefined) return chromium.launch({ executablePath: installed, args: ["--no-sandbox"] });
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const args = npmChromium.args.filter((word) => !UNSAFE_FLAGS.includes(word));
  return chromium.launch({ executablePath: await npmChromium.executablePath(), args });
}

function installedBrowser(): string | undefined {
  const named = process.env["CHROMIUM"];
  if (named !== undefined && named !== "") return named;
  if (process.platform === "linux" && process.arch === "x64") return undefined;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((file) => existsSync(file));
}

/** What a page must not do; a script of the page reports it as an error of the console. */
export const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error("violation of " + violatedDirective + " by " + blockedURI));`;
