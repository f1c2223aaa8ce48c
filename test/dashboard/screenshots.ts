// npm run screenshots [FOLDER]: the demo in a temporary database, and a picture of each screen, on a desk and on a phone.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { NO_BROWSER, openBrowser } from "../support/chromium.ts";

const SCREENS = {
  fleet: "/",
  map: "/map",
  tank: "/tanks/tank_demo011",
  alerts: "/alerts",
  customers: "/customers",
  customer: "/customers/cus_demo001",
  devices: "/devices",
  channels: "/channels",
  keys: "/keys",
  users: "/users",
  audit: "/audit",
  account: "/account",
  "sign-in": "/sign-in",
} as const;
const LOOKS = {
  desk: { viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "dark" },
} as const;
/** Until charts are drawn, and notices of the first alerts have gone. */
const SETTLED_MS = 3000;

const folder = process.argv[2] ?? join("data", "screenshots");
mkdirSync(folder, { recursive: true });
const temporary = mkdtempSync(join(tmpdir(), "tank-monitor-"));
const program = join(import.meta.dirname, "..", "..", "bin", "tank-monitor.js");
const demo = spawn(process.execPath, [program, "demo", "--port", "0"], {
  env: { ...process.env, DATABASE_URL: `sqlite:${join(temporary, "demo.db")}` },
  stdio: ["ignore", "pipe", "inherit"],
});
const browser = await openBrowser();
try {
  if (browser === undefined) throw new Error(NO_BROWSER);
  const link = await printedLink();
  const page = await browser.newPage();
  await page.goto(link);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Fleet" }).waitFor();
  // Forecasts of the demo, and its first alerts.
  await page.waitForTimeout(20_000);
  for (const [look, { viewport, colorScheme }] of Object.entries(LOOKS)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    for (const [screen, path] of Object.entries(SCREENS)) {
      await page.goto(new URL(path, link).href);
      await page.waitForTimeout(SETTLED_MS);
      const file = join(folder, `${screen}-${look}.png`);
      await page.screenshot({ path: file });
      console.log(file);
    }
  }
} finally {
  await browser?.close();
  const stopped = once(demo, "exit");
  demo.kill("SIGINT");
  await stopped;
  rmSync(temporary, { recursive: true, force: true });
}

async function printedLink(): Promise<string> {
  for await (const line of createInterface({ input: demo.stdout })) {
    const link = /http\S+\/sign-in#token=\S+/.exec(line)?.[0];
    if (link === undefined) continue;
    demo.stdout.resume();
    return link;
  }
  throw new Error("the demo has ended");
}
