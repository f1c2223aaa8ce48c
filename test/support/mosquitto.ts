// The Mosquitto broker, where it is installed.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import mqtt from "mqtt";
import { freePort } from "./free-port.ts";
import { type Lifetime, temporaryFolder } from "./service.ts";
import { until } from "./until.ts";

const PROGRAMS = ["mosquitto", "mosquitto_pub", "mosquitto_sub"];

/** The reason to skip a test that needs it, or false. */
export const withoutMosquitto = PROGRAMS.every((program) => spawnSync(program, ["--help"]).error === undefined)
  ? false
  : "mosquitto is not installed";

export class Mosquitto {
  readonly url: string;
  readonly #settings: string;
  #process: ChildProcess | undefined;

  constructor(folder: string, port: number) {
    this.url = `mqtt://127.0.0.1:${port}`;
    this.#settings = join(folder, "mosquitto.conf");
    const lines = [
      `listener ${port} 127.0.0.1`,
      "allow_anonymous true",
      "user root",
      "persistence true",
      `persistence_location ${folder}/`,
      "max_inflight_messages 1000",
      "max_queued_messages 0",
    ];
    writeFileSync(this.#settings, lines.join("\n"));
  }

  async start(): Promise<void> {
    this.#process = spawn("mosquitto", ["-c", this.#settings], { stdio: "ignore" });
    await until("mosquitto listens", async () => {
      const client = mqtt.connect(this.url, { reconnectPeriod: 0 });
      const isUp = await new Promise<boolean>((resolve) => {
        client.once("connect", () => resolve(true));
        client.once("error", () => resolve(false));
      });
      client.end(true);
      return isUp;
    });
  }

  /** With SIGTERM, so that it saves its sessions. */
  async stop(): Promise<void> {
    const ended = this.#process;
    this.#process = undefined;
    if (ended === undefined) return;
    ended.kill("SIGTERM");
    await once(ended, "exit");
  }
}

export async function startMosquitto(life: Lifetime): Promise<Mosquitto> {
  const mosquitto = new Mosquitto(temporaryFolder(life), await freePort());
  await mosquitto.start();
  life.after(() => mosquitto.stop());
  return mosquitto;
}
