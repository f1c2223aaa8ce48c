// tank-monitor demo

import type { App } from "../app.ts";
import { LivingFleet } from "../demo/living.ts";
import { knownTanks, prepareDemo } from "../demo/prepare.ts";
import { SEES_ALL } from "../domain/key.ts";
import type { Store } from "../domain/store.ts";
import { createKey, revokeKey } from "../manage/keys.ts";
import { type Command, configOf, print, say, withStore } from "./command.ts";
import { Progress } from "./progress.ts";
import { serveUntilStopped } from "./serve.ts";

const SEED = "tank-monitor demo";
const KEY_NAME = "demo";
const HEARTBEAT_MS = 1000;

export const demo: Command = {
  name: "demo",
  summary: "look around in a simulated fleet that is alive",
  usage: "[--port PORT] [--host ADDRESS]",
  help: `Makes 200 customers and 500 tanks with a year of readings, serves them, and lets new readings arrive. It has a
database of its own, data/demo.db; one named in DATABASE_URL is used only if it is empty or an earlier demo.
Once it answers, it prints the address, a key and lines to paste.`,
  most: 0,
  flags: { port: { type: "string" }, host: { type: "string" } },
  async run(call) {
    const config = configOf(call, ["PORT", "HOST"], { DATABASE_URL: "sqlite:data/demo.db", LOG_LEVEL: "warn" });
    say("Making the fleet: 200 customers, 500 tanks, a year of readings …");
    const progress = new Progress("readings");
    await withStore(config, (store) => prepareDemo(store, SEED, Date.now(), (done, total) => progress.show(done, total, "")));
    progress.end();
    await serveUntilStopped(config, live);
    return 0;
  },
};

/** Prints what to do with it, and keeps it alive until it is stopped. */
async function live({ store, url }: App): Promise<() => Promise<void>> {
  print(welcome(url, await freshKey(store), await examples(store)));
  const fleet = new LivingFleet(await knownTanks(store), SEED);
  let beat: Promise<unknown> = Promise.resolve();
  const heart = setInterval(() => {
    const readings = fleet.nextReadings(Date.now());
    // A reading that cannot be stored now is lost, as with a simulated device it may be; the service says so itself.
    if (readings !== undefined) beat = store.acceptReadings(readings).catch(() => {});
  }, HEARTBEAT_MS);
  return async () => {
    clearInterval(heart);
    await beat;
  };
}

/** The secret of an earlier run's key is gone with that run. */
async function freshKey(store: Store): Promise<string> {
  for (const old of await store.keyList()) {
    if (old.name === KEY_NAME && old.revoked_at === null) await revokeKey(store, Date.now, old.id);
  }
  const wish = { name: KEY_NAME, role: "read", customerId: null, deviceId: null, rate: null, lifetime: null } as const;
  return (await createKey(store, Date.now, wish)).secret;
}

async function examples(store: Store): Promise<{ customer: string; tank: string }> {
  const first = { from: undefined, to: undefined, page: 1, size: 1 };
  const tank = (await store.tankPage(first, SEES_ALL)).data[0];
  return { customer: tank?.owner_id ?? "", tank: tank?.id ?? "" };
}

function welcome(url: string, key: string, { customer, tank }: { customer: string; tank: string }): string {
  const paths = [
    "/v1/customers?size=2",
    `/v1/customers/${customer}`,
    "/v1/tanks?size=2",
    `/v1/tanks/${tank}`,
    `/v1/tanks/${tank}/telemetry?size=5`,
  ];
  return `
Tank Monitor is up, with a simulated fleet.

  Address         ${url}
  Key             ${key}
  Documentation   ${url}/docs

Five lines to paste into another terminal:

${paths.map((path) => `curl -H 'X-API-Key: ${key}' '${url}${path}'`).join("\n")}

New readings arrive every second. Ctrl-C stops it.
`;
}
