// tank-monitor demo

import { existsSync } from "node:fs";
import type { App } from "../app.ts";
import { type Config, managementSettings, readEnvFile } from "../config.ts";
import { demoFleet, prepareDemo, tanksWithReadings } from "../demo/prepare.ts";
import { isReceiving, type Receiver, startReceiver } from "../demo/receiver.ts";
import { ACTORS } from "../domain/actor.ts";
import { describeFatalError, UserError } from "../domain/errors.ts";
import { UNRESTRICTED } from "../domain/key.ts";
import type { Store } from "../domain/store.ts";
import { ManagementService } from "../http/management.ts";
import { httpClient, httpTransport } from "../simulate/http.ts";
import { Tally } from "../simulate/results.ts";
import { simulate } from "../simulate/simulation.ts";
import { removeDatabase } from "../store/files.ts";
import { databaseFiles } from "../store/open.ts";
import { type CliCommand, configOf, valueFlags, withStore } from "./command.ts";
import { keyFile, replaceKey, reusableReadKey } from "./demo-key.ts";
import { ProgressBar, print, printMessage } from "./output.ts";
import { requireFreePorts, serveUntilStopped } from "./serve.ts";

const SEED = "tank-monitor demo";
const OWN_DATABASE = "data/demo.db";
/** The description of the channel of the demo's webhook receiver, and where that is. */
const RECEIVER = "demo receiver";
const RECEIVER_NETWORK = { network: "127.0.0.1", length: 32 };
const ADMIN = { email: "demo@tank-monitor.example", name: "Demo", role: "admin" };
/** Every device sends once in this time. */
const ROUND_SECONDS = 100;
/** How long a stop waits for requests in progress. */
const STOP_MS = 300;

export const demo: CliCommand = {
  name: "demo",
  summary: "run the service with a simulated fleet",
  usage: "[--port PORT] [--host ADDRESS]",
  help: `Create 200 customers and 500 tanks with a year of readings, serve them, and keep sending new readings. The demo has its own
database, data/demo.db, and creates it again if another version of Tank Monitor created it; DATABASE_URL is used only if that
database is empty or from an earlier demo.
It prints a link that signs you in, a key and commands to paste. The key is the same at the next start: it is stored in a file
that only you can read, beside a SQLite database (data/demo.db.key), else in data/demo-….key. A second demo at the same time
needs another database, in DATABASE_URL, and another port.

  --port PORT      HTTP port (8080, or PORT)
  --host ADDRESS   address to listen on (127.0.0.1, or HOST)

The demo does not use MQTT, whatever the settings for it are.`,
  maxArguments: 0,
  flags: valueFlags("port", "host"),
  async run(call) {
    const given = configOf(call, ["PORT", "HOST"], { DATABASE_URL: `sqlite:${OWN_DATABASE}`, LOG_LEVEL: "warn" });
    // Settings for MQTT are those of the real service: its clients and its broker must not send to the demo.
    const withoutMqtt = { ...given, mqttPort: null, mqttsPort: null, mqttUrl: null };
    const config = { ...withoutMqtt, webhookAllow: [...given.webhookAllow, RECEIVER_NETWORK] };
    const [file] = databaseFiles(config.databaseUrl);
    if (file !== undefined && !existsSync(file)) await requireFreePorts(config);
    const isOwn = [process.env, readEnvFile()].every(({ DATABASE_URL = "" }) => DATABASE_URL === "");
    const progress = new ProgressBar("readings");
    const prepare = async (store: Store) => {
      await rejectSecondDemo(store);
      await prepareDemo(store, SEED, Date.now(), {
        onCreate: () => printMessage("Creating the fleet: 200 customers, 500 tanks, a year of readings …"),
        onProgress: (done, total) => progress.show(done, total),
      });
    };
    await recreateOutdated(isOwn ? OWN_DATABASE : undefined, () => withStore(config, prepare, "silently"));
    progress.end();
    const receiver = await startReceiver(print);
    try {
      await serveUntilStopped(config, async (app) => {
        const stopDevices = await runDevices(app, config.databaseUrl);
        await createReceiverChannel(app, config, receiver);
        return stopDevices;
      });
    } finally {
      // After the service, which may be sending a webhook while it stops.
      receiver.close();
    }
    return 0;
  },
};

/** It would replace the key and the channel of the first. */
async function rejectSecondDemo(store: Store): Promise<void> {
  for (const { url, description } of await store.channelList()) {
    if (description === RECEIVER && url !== null && (await isReceiving(url))) {
      throw new UserError("a demo is already running on this database. Stop it, or set DATABASE_URL=sqlite:data/demo2.db");
    }
  }
}

/** Deletes the demo's own database if another version has created it, and tries again. */
async function recreateOutdated(ownFile: string | undefined, prepare: () => Promise<void>): Promise<void> {
  try {
    await prepare();
  } catch (error) {
    const isOutdated = error instanceof UserError && error.code === "schema_mismatch";
    if (!isOutdated || ownFile === undefined) throw error;
    printMessage(`${ownFile} was created by another version of Tank Monitor. The demo creates it again.`);
    removeDatabase(ownFile);
    await prepare();
  }
}

/** Prints the welcome, and lets the devices send over HTTP until the returned function is called. */
async function runDevices({ store, url }: App, databaseUrl: string): Promise<() => Promise<void>> {
  const [link, key] = [`${url}${await signInPath(store)}`, await reusableReadKey(store, keyFile(databaseUrl))];
  print(welcome(url, link, key, await examples(store), databaseUrl));
  const fleet = demoFleet(
    (await tanksWithReadings(store)).map(({ tank }) => tank),
    SEED,
  );
  const transport = httpTransport(httpClient(url, await replaceKey(store, "ingest")));
  const [stop, abort] = [new AbortController(), new AbortController()];
  const sending = simulate({
    fleet,
    seed: SEED,
    transport,
    rate: fleet.size / ROUND_SECONDS,
    clock: Date.now,
    observer: new Tally(),
    stop: stop.signal,
    abort: abort.signal,
  }).catch((error) => printMessage(`The devices have stopped sending: ${describeFatalError(error).message}`));
  return async () => {
    stop.abort();
    const timer = setTimeout(() => abort.abort(), STOP_MS);
    await sending;
    clearTimeout(timer);
  };
}

/** Replaces the channel of an earlier run. */
async function createReceiverChannel({ store }: App, config: Config, receiver: Receiver): Promise<void> {
  const manage = new ManagementService(store, Date.now, managementSettings(config));
  for (const { id, description } of await store.channelList()) {
    if (description === RECEIVER) await manage.execute({ type: "delete_channel", id }, ACTORS.demo);
  }
  const fields = { type: "webhook", url: receiver.url, description: RECEIVER };
  receiver.secret = (await manage.createChannel(fields, ACTORS.demo)).secret ?? "";
}

/** Signs in as the admin of the demo, once. */
async function signInPath(store: Store): Promise<string> {
  // Without PUBLIC_URL: the link is for whoever has started the demo.
  const manage = new ManagementService(store, Date.now);
  const known = (await store.userList()).find(({ email }) => email === ADMIN.email);
  const create = { type: "create_user", newId: manage.newId("usr"), fields: ADMIN } as const;
  const id = known?.id ?? String((await manage.execute(create, ACTORS.demo)).resource.object["id"]);
  return (await manage.createSignInLink({ type: "user", id }, ACTORS.demo)).url;
}

type Examples = { readonly customer: string; readonly tank: string };

async function examples(store: Store): Promise<Examples> {
  const first = { from: undefined, to: undefined, page: 1, size: 1 };
  const tank = (await store.tankPage(first, UNRESTRICTED)).data[0];
  return { customer: tank?.owner_id ?? "", tank: tank?.id ?? "" };
}

function welcome(url: string, link: string, key: string, { customer, tank }: Examples, databaseUrl: string): string {
  // Other URLs may contain a password.
  const database = databaseUrl.startsWith("sqlite:") ? databaseUrl : "…";
  const command = `DATABASE_URL=${database} PORT=${new URL(url).port || 80} npx tank-monitor`;
  const paths = [
    "/v1/customers?size=2",
    `/v1/customers/${customer}`,
    "/v1/tanks?size=2",
    `/v1/tanks/${tank}`,
    `/v1/tanks/${tank}/telemetry?size=5`,
    "/insight/v1/fleet?size=3",
    "/insight/v1/alerts?state=open&size=3",
  ];
  return `
Tank Monitor is running with a simulated fleet.

  Dashboard       ${link}
  Address         ${url}
  Key             ${key}
  Documentation   ${url}/docs

Try these in another terminal:

${paths.map((path) => `curl -H 'X-API-Key: ${key}' '${url}${path}'`).join("\n")}

The link to the dashboard signs you in once, within 10 minutes. Another one, in this folder:

${command} user link ${ADMIN.email}

And one that shows what a customer sees; open it in a private window:

${command} customer link ${customer}

And to see which tank needs a truck next:

DATABASE_URL=${database} npx tank-monitor fleet --limit 10

New readings arrive every second. A few tanks are emptied and filled within minutes. Below, the demo's webhook receiver prints a line for
each alert that opens or closes and each refill; if more than five arrive within a second, only their number. Press Ctrl-C to stop.
`;
}
