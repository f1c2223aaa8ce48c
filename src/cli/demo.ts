// tank-monitor demo

import type { App } from "../app.ts";
import { demoFleet, prepareDemo, tanksWithReadings } from "../demo/prepare.ts";
import { describeFatalError } from "../domain/errors.ts";
import { type Role, UNRESTRICTED } from "../domain/key.ts";
import type { Store } from "../domain/store.ts";
import { ManagementService } from "../http/management.ts";
import { httpClient, httpTransport } from "../simulate/http.ts";
import { Tally } from "../simulate/results.ts";
import { simulate } from "../simulate/simulation.ts";
import { type Command, configOf, print, say, withStore } from "./command.ts";
import { Progress } from "./progress.ts";
import { serveUntilStopped } from "./serve.ts";

const SEED = "tank-monitor demo";
/** Of the key that is printed, and of the one that the devices send with. */
const KEY_NAMES = { read: "demo", ingest: "demo devices" } as const;
/** As the audit log has it. */
const MADE_BY = "demo";
/** In this time every device has its turn once. */
const ROUND_SECONDS = 100;
/** How long a stop waits for what is under way. */
const STOP_MS = 300;

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
    const prepare = (store: Store) => prepareDemo(store, SEED, Date.now(), (done, total) => progress.show(done, total, ""));
    await withStore(config, prepare, true);
    progress.end();
    await serveUntilStopped(config, (app) => live(app, config.databaseUrl));
    return 0;
  },
};

/** Prints what to do with it, and lets devices send to it, over HTTP as any other, until it is stopped. */
async function live({ store, url }: App, databaseUrl: string): Promise<() => Promise<void>> {
  print(welcome(url, await freshKey(store, "read"), await examples(store), databaseUrl));
  const fleet = demoFleet(await tanksWithReadings(store), SEED);
  const transport = httpTransport(httpClient(url, await freshKey(store, "ingest")));
  const [end, hurry] = [new AbortController(), new AbortController()];
  const rate = fleet.size / ROUND_SECONDS;
  const how = {
    fleet,
    seed: SEED,
    transport,
    rate,
    clock: Date.now,
    observer: new Tally(),
    stop: end.signal,
    abort: hurry.signal,
  };
  const sending = simulate(how).catch((error) => say(`The devices have stopped sending: ${describeFatalError(error).message}`));
  return async () => {
    end.abort();
    const impatient = setTimeout(() => hurry.abort(), STOP_MS);
    await sending;
    clearTimeout(impatient);
  };
}

/** The secret of an earlier run's key is gone with that run. */
async function freshKey(store: Store, role: Role & keyof typeof KEY_NAMES): Promise<string> {
  const name = KEY_NAMES[role];
  const manage = new ManagementService(store, Date.now);
  for (const old of await store.keyList()) {
    if (old.name === name && old.revoked_at === null) await manage.execute({ type: "revoke_key", id: old.id }, MADE_BY);
  }
  return (await manage.createKey({ name, role }, MADE_BY)).secret ?? "";
}

async function examples(store: Store): Promise<Examples> {
  const first = { from: undefined, to: undefined, page: 1, size: 1 };
  const tank = (await store.tankPage(first, UNRESTRICTED)).data[0];
  return { customer: tank?.owner_id ?? "", tank: tank?.id ?? "" };
}

type Examples = { readonly customer: string; readonly tank: string };

function welcome(url: string, key: string, { customer, tank }: Examples, databaseUrl: string): string {
  // Any other URL may hold a password.
  const database = databaseUrl.startsWith("sqlite:") ? databaseUrl : "…";
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

And, in this folder, which tank needs a truck next:

DATABASE_URL=${database} npx tank-monitor fleet --limit 10

New readings arrive every second. Ctrl-C stops it.
`;
}
