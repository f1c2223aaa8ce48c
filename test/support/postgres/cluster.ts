// One PostgreSQL server: its data folder, its port and its process.

import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { copyOfRunning } from "./copy.ts";
import { hasEnded, launch } from "./launch.ts";
import { freePort } from "./port.ts";
import { giveTo, type Programs } from "./programs.ts";
import { SETTINGS } from "./settings.ts";

/** `fast` ends sessions and writes all down; `immediate` leaves it to recovery; `kill` is `kill -9` of the main process. */
export type Ending = "fast" | "immediate" | "kill";

const SIGNALS = { fast: "SIGINT", immediate: "SIGQUIT", kill: "SIGKILL" } as const;
const PATIENCE_MS = 30_000;

export class Cluster {
  readonly #programs: Programs;
  readonly #folder: string;
  readonly #name: string;
  readonly #password: string;
  #port = 0;
  #process: ChildProcess | undefined;
  /** The process is gone without having given back what it had of the system. */
  #killed = false;

  private constructor(programs: Programs, folder: string, name: string, password: string) {
    this.#programs = programs;
    this.#folder = folder;
    this.#name = name;
    this.#password = password;
  }

  /** A new server that runs. */
  static async make(programs: Programs, folder: string, name: string, signal: AbortSignal): Promise<Cluster> {
    const cluster = new Cluster(programs, folder, name, randomBytes(12).toString("hex"));
    const passwordFile = join(folder, `${name}.password`);
    writeFileSync(passwordFile, cluster.#password, { mode: 0o600 });
    giveTo(programs.user, passwordFile);
    const options = ["--no-sync", "--no-instructions", "--username=postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
    await cluster.#initdb([...options, "--encoding=UTF8", "--locale=C", "-D", cluster.#data], signal);
    appendFileSync(join(cluster.#data, "postgresql.conf"), SETTINGS);
    await cluster.#startSomewhere();
    return cluster;
  }

  /** A streaming replica that answers. The server must run. */
  async replica(name: string): Promise<Cluster> {
    const replica = new Cluster(this.#programs, this.#folder, name, this.#password);
    await copyOfRunning({ url: this.url, data: this.#data, name }, replica.#data);
    giveTo(this.#programs.user, replica.#data);
    await replica.#startSomewhere();
    return replica;
  }

  get url(): string {
    return `postgresql://postgres:${this.#password}@127.0.0.1:${this.#port}/postgres`;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get #data(): string {
    return join(this.#folder, this.#name);
  }

  get #logFile(): string {
    return join(this.#folder, `${this.#name}.log`);
  }

  /** Starts it again where it was; it answers when this resolves. */
  async start(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const fault = await this.#tryToStart(deadline);
      if (fault === undefined) return;
      // Sessions outlive a main process that was killed, for a moment.
      if (!fault.includes("is still in use") || performance.now() > deadline) throw new Error(fault);
      await pause(20);
    }
  }

  async stop(how: Ending): Promise<void> {
    const running = this.#process;
    if (running === undefined) return;
    running.kill(SIGNALS[how]);
    const gone = await hasEnded(running, PATIENCE_MS);
    if (!gone) throw new Error(`PostgreSQL has not stopped in ${PATIENCE_MS} ms:\n${this.#log()}`);
  }

  /** Stops it by any means, before the folder goes: nothing needs to be written down. */
  async end(): Promise<void> {
    // The next start takes up the shared memory that a killed process left in the system, and frees it when it ends.
    if (this.#killed && this.#process === undefined) await this.start().catch(() => {});
    for (const how of ["immediate", "kill"] as const) {
      const running = this.#process;
      if (running === undefined) return;
      running.kill(SIGNALS[how]);
      await hasEnded(running, 5000);
    }
  }

  async #startSomewhere(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.#port = await freePort();
      const fault = await this.#tryToStart(performance.now() + PATIENCE_MS);
      if (fault === undefined) return;
      // Somebody else can have taken the port in the meantime.
      if (!fault.includes("could not create any TCP/IP sockets") || attempt === 5) throw new Error(fault);
    }
  }

  async #initdb(options: readonly string[], signal: AbortSignal): Promise<void> {
    const { code } = await this.#launch(this.#programs.initdb, options, signal).ended;
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`initdb failed:\n${this.#log()}`);
  }

  /** What went wrong, if anything did. */
  async #tryToStart(deadline: number): Promise<string | undefined> {
    if (this.#process !== undefined) throw new Error("it runs already");
    const logged = this.#logged();
    const { child, ended } = this.#launch(this.#programs.postgres, ["-D", this.#data, "-p", String(this.#port)]);
    this.#process = child;
    void ended.then(({ signal }) => {
      this.#process = undefined;
      this.#killed ||= signal === "SIGKILL";
    });
    let reason = "";
    while (this.#process !== undefined) {
      reason = await this.#whyNoAnswer();
      if (reason === "") {
        this.#killed = false;
        return;
      }
      if (performance.now() > deadline) {
        await this.end();
        break;
      }
      await pause(20);
    }
    return `PostgreSQL did not start: ${reason}\n${this.#log(logged)}`;
  }

  async #whyNoAnswer(): Promise<string> {
    const client = new Client({ connectionString: this.url, connectionTimeoutMillis: 5000 });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("SELECT 1");
      return "";
    } catch (error) {
      return String(error);
    } finally {
      await client.end().catch(() => {});
    }
  }

  #launch(program: string, options: readonly string[], signal?: AbortSignal) {
    return launch(program, options, {
      user: this.#programs.user,
      folder: this.#folder,
      logFile: this.#logFile,
      ...(signal && { signal }),
    });
  }

  #logged(): number {
    return existsSync(this.#logFile) ? statSync(this.#logFile).size : 0;
  }

  /** The end of what was logged since then. */
  #log(since = 0): string {
    return existsSync(this.#logFile) ? readFileSync(this.#logFile).subarray(since).subarray(-4000).toString() : "";
  }
}
