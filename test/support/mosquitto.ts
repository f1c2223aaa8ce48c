// The Mosquitto broker, where it is installed.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import mqtt from "mqtt";
import { freePort } from "./free-port.ts";
import type { Lifetime } from "./service.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { until } from "./until.ts";

const missing = ["mosquitto", "mosquitto_pub", "mosquitto_sub"].filter((program) => {
  return spawnSync(program, ["--help"]).error !== undefined;
});

/** The reason to skip a test that needs it, or false. */
export const withoutMosquitto = missing.length > 0 && `not installed: ${missing.join(", ")}`;

export type Mosquitto = {
  readonly url: string;
  readonly start: () => Promise<void>;
  /** With SIGTERM, so that it saves its sessions. */
  readonly stop: () => Promise<void>;
};

export async function startMosquitto(life: Lifetime): Promise<Mosquitto> {
  const folder = temporaryFolder(life);
  const port = await freePort();
  const url = `mqtt://127.0.0.1:${port}`;
  const settings = join(folder, "mosquitto.conf");
  const limits = ["max_inflight_messages 1000", "max_queued_messages 0"];
  const storage = ["user root", "persistence true", `persistence_location ${folder}/`];
  writeFileSync(settings, [`listener ${port} 127.0.0.1`, "allow_anonymous true", ...storage, ...limits].join("\n"));
  let running: ChildProcess | undefined;

  async function start(): Promise<void> {
    running = spawn("mosquitto", ["-c", settings], { stdio: "ignore" });
    await until("mosquitto listens", async () => {
      const client = mqtt.connect(url, { reconnectPeriod: 0 });
      const { promise, resolve } = Promise.withResolvers<boolean>();
      client.once("connect", () => resolve(true)).once("error", () => resolve(false));
      return promise.finally(() => client.end(true));
    });
  }

  async function stop(): Promise<void> {
    const exited = running === undefined ? undefined : once(running, "exit");
    running?.kill("SIGTERM");
    running = undefined;
    await exited;
  }

  await start();
  life.after(stop);
  return { url, start, stop };
}
