// tank-monitor serve

import type { App } from "../app.ts";
import type { Config } from "../config.ts";
import { openLog } from "../observe/log.ts";
import { Supervisor } from "../workers/supervisor.ts";
import { type Command, configOf, say } from "./command.ts";

export const serve: Command = {
  name: "serve",
  summary: "run the service",
  usage: "[--port PORT] [--host ADDRESS] [--mqtt PORT] [--workers N]",
  help: `Answers HTTP on --host and --port (127.0.0.1 and 8080, or HOST and PORT), with --workers processes (1, or WORKERS)
that share the address. With --mqtt PORT (or MQTT) devices may also send readings to an MQTT broker on that port, and
with MQTT_URL they are fetched from a broker of your own: docs/mqtt.md. The database is DATABASE_URL (sqlite:data/tank-monitor.db). Stops in order on SIGTERM and SIGINT.
docs/configuration.md tells the rest.`,
  most: 0,
  flags: { port: { type: "string" }, host: { type: "string" }, mqtt: { type: "string" }, workers: { type: "string" } },
  async run(call) {
    const config = configOf(call, ["PORT", "HOST", "MQTT", "WORKERS"]);
    if (config.workers > 1) {
      await superviseUntilStopped(config);
    } else {
      await serveUntilStopped(config, async ({ store, url }) => {
        if (await store.isEmpty()) say(nextSteps(url));
        return undefined;
      });
    }
    return 0;
  },
};

/** What `ready` begins beside the service, it ends with the function it returns. */
type Ready = (app: App) => Promise<(() => Promise<void>) | undefined>;

/** Starts, lets `ready` do its part, and returns after an orderly stop. A second signal changes nothing. */
export async function serveUntilStopped(config: Config, ready: Ready): Promise<void> {
  const log = openLog(config.logLevel);
  const signalled = nextSignal();
  // Not before it is needed: other commands, and the parent of several workers, do without the server's 25 MB.
  const { startApp } = await import("../app.ts");
  try {
    const app = await startApp({ config, log: log.observe });
    let finish: (() => Promise<void>) | undefined;
    try {
      finish = await ready(app);
      log.observe({ kind: "stopping", signal: await signalled });
    } finally {
      await finish?.();
      await app.stop();
    }
  } finally {
    await log.close();
  }
}

/** The same with several processes, of which this one is the parent. A signal may come before all of them have started. */
async function superviseUntilStopped(config: Config): Promise<void> {
  const log = openLog(config.logLevel);
  const signalled = nextSignal();
  const supervisor = new Supervisor(config, log);
  try {
    try {
      const started = supervisor.start().then(({ isEmpty, url }) => {
        if (isEmpty) say(nextSteps(url));
        return signalled;
      });
      log.observe({ kind: "stopping", signal: await Promise.race([signalled, started]) });
    } finally {
      await supervisor.stop();
    }
    log.observe({ kind: "stopped" });
  } finally {
    await log.close();
  }
}

/** From here on, signals no longer end the process by themselves. */
function nextSignal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, resolve);
  return promise;
}

function nextSteps(url: string): string {
  return `
The database is empty. What to do next, in another terminal, in this folder:

  npx tank-monitor customer create --id c-1 --name NAME --email ADDRESS
  npx tank-monitor tank create --id t-1 --owner c-1 --name NAME --capacity 2700 --unit liters --threshold 20 --device DEVICE
  npx tank-monitor key create --name gateway --role ingest     a key for whoever sends readings (shown once)
  npx tank-monitor key create --name dashboard                 a key for whoever reads them

Or bring in what you have: npx tank-monitor provision customers.csv tanks.csv, npx tank-monitor import FILE.
Or stop this, and look around in a simulated fleet: npx tank-monitor demo

Then open ${url}/docs
`;
}
