// tank-monitor serve

import type { App } from "../app.ts";
import { type Config, readEnvText } from "../config.ts";
import type { Observe } from "../domain/log-events.ts";
import { bindSocket } from "../http/address.ts";
import { openLog } from "../observe/log.ts";
import { Supervisor } from "../workers/supervisor.ts";
import { type CliCommand, configOf, valueFlags } from "./command.ts";
import { printMessage } from "./output.ts";
import { unknownSettings } from "./unknown-settings.ts";

export const serve: CliCommand = {
  name: "serve",
  summary: "run the service",
  usage: "[--port PORT] [--host ADDRESS] [--mqtt PORT] [--mqtts PORT] [--workers N]",
  help: `Serve HTTP until SIGTERM or SIGINT. The database is DATABASE_URL (sqlite:data/tank-monitor.db).

  --port PORT      HTTP port (8080, or PORT)
  --host ADDRESS   address to listen on (127.0.0.1, or HOST)
  --mqtt PORT      also accept readings over MQTT on this port (or MQTT), see docs/mqtt.md
  --mqtts PORT     the same over TLS (or MQTTS), with MQTTS_CERT and MQTTS_KEY
  --workers N      processes that share the port (1, or WORKERS)

With MQTT_URL, the service subscribes to your own broker. All settings: docs/configuration.md.`,
  maxArguments: 0,
  flags: valueFlags("port", "host", "mqtt", "mqtts", "workers"),
  async run(call) {
    for (const warning of unknownSettings(readEnvText(), process.env)) printMessage(`tank-monitor: warning: ${warning}`);
    const config = configOf(call, ["PORT", "HOST", "MQTT", "MQTTS", "WORKERS"]);
    await requireFreePorts(config);
    if (config.workers > 1) {
      await superviseUntilStopped(config);
    } else {
      await serveUntilStopped(config, async ({ store, url }, observe) => {
        reportMissingSetup(observe, { url, isEmpty: await store.isEmpty(), hasNoUsers: (await store.userList()).length === 0 });
        return async () => {};
      });
    }
    return 0;
  },
};

/** Before a database is created. */
export async function requireFreePorts({ host, port, mqttPort, mqttsPort }: Config): Promise<void> {
  const addresses = [
    { host, port },
    { host, port: mqttPort, setting: "--mqtt or MQTT" },
    { host, port: mqttsPort, setting: "--mqtts or MQTTS" },
  ];
  for (const { port: one, ...address } of addresses) {
    if (one !== null) (await bindSocket({ ...address, port: one }))[Symbol.dispose]();
  }
}

/** Runs once the service listens. The function it returns runs before the service stops. */
type Ready = (app: App, observe: Observe) => Promise<() => Promise<void>>;

/** Returns after an orderly stop; a signal before the service listens ends the process. Further signals change nothing. */
export async function serveUntilStopped(config: Config, ready: Ready): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const log = openLog(config.logLevel);
  cleanup.defer(log.close);
  const signalled = nextSignal();
  // Loaded late: other commands, and the parent of several workers, do without the server's 25 MB.
  const { startApp } = await import("../app.ts");
  const starting = startApp({ config, log: log.observe });
  const early = await Promise.race([starting.then(() => undefined), signalled]);
  if (early !== undefined) {
    log.observe({ kind: "stopping", signal: early });
    log.observe({ kind: "stopped" });
    await log.close();
    // Nothing has been accepted, and the start may wait for the database for a long time.
    process.exit(0);
  }
  const app = await starting;
  cleanup.defer(() => app.stop());
  cleanup.defer(await ready(app, log.observe));
  log.observe({ kind: "stopping", signal: await signalled });
}

/** The same with several processes. A signal may come before all of them have started. */
async function superviseUntilStopped(config: Config): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const log = openLog(config.logLevel);
  cleanup.defer(log.close);
  const signalled = nextSignal();
  const supervisor = new Supervisor(config, log);
  try {
    const started = supervisor.start().then((listening) => {
      reportMissingSetup(log.observe, listening);
      return signalled;
    });
    log.observe({ kind: "stopping", signal: await Promise.race([signalled, started]) });
  } finally {
    await supervisor.stop();
  }
  log.observe({ kind: "stopped" });
}

/** Resolves with the next signal. From this call on, signals do not end the process by themselves. */
function nextSignal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, resolve);
  return promise;
}

type Contents = { readonly url: string; readonly isEmpty: boolean; readonly hasNoUsers: boolean };

function reportMissingSetup(observe: Observe, { url, isEmpty, hasNoUsers }: Contents): void {
  if (isEmpty) printMessage(nextSteps(url));
  else if (hasNoUsers) observe({ kind: "no_users" });
}

/** Where DATABASE_URL is in the environment, other terminals do not have it. */
function sameDatabase(): string {
  const { DATABASE_URL = "" } = process.env;
  if (DATABASE_URL === "") return "";
  // Other URLs may contain a password.
  const [where, value] = DATABASE_URL.startsWith("sqlite:") ? ["", `'${DATABASE_URL}'`] : [", as for this service", "…"];
  return `
The database${where}:

  export DATABASE_URL=${value}
`;
}

function nextSteps(url: string): string {
  // The command does not know on which port the service listens.
  const port = new URL(url).port || 80;
  return `
The database is empty. Next steps, in another terminal, in this folder:
${sameDatabase()}
A customer and a tank:

  npx tank-monitor customer create --id c-1 --name NAME --email ADDRESS
  npx tank-monitor tank create --id t-1 --owner c-1 --name NAME --capacity 2700 --unit liters --threshold 20 --device DEVICE

A key that sends readings, and one that reads. Keys are shown once:

  npx tank-monitor key create --name gateway --role ingest
  npx tank-monitor key create --name reports

A person who signs in, and a link that signs them in. On a server, set PUBLIC_URL first (docs/configuration.md):

  npx tank-monitor user create --email ADDRESS --name NAME --role admin
  PORT=${port} npx tank-monitor user link ADDRESS

Or, instead of a customer and a tank: many of them from files, or existing data with readings:

  npx tank-monitor provision customers.csv tanks.csv
  npx tank-monitor import FILE

Or a simulated fleet (stop this service first):

  npx tank-monitor demo

Dashboard: ${url}/   API documentation: ${url}/docs
`;
}
