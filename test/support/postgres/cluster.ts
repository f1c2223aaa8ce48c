// One PostgreSQL server: its data folder, its port and its process.

import { type ChildProcess, spawn } from "node:child_process";
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { freePort } from "../free-port.ts";
import { changeOwner, type Programs } from "./programs.ts";

/** `fast` ends sessions and writes a checkpoint; `immediate` leaves recovery to the next start; `kill` is SIGKILL. */
export type StopMode = "fast" | "immediate" | "kill";

const SIGNALS = { fast: "SIGINT", immediate: "SIGQUIT", kill: "SIGKILL" } as const;
const TIMEOUT_MS = 30_000;

/** In postgresql.conf rather than on the command line, so that a test can overrule each with ALTER SYSTEM. */
const SETTINGS = `
# A test's data need not survive a crash of the machine; that of a process loses nothing.
fsync = off
full_page_writes = off
# No socket in a folder, whose path may be too long for one.
unix_socket_directories = ''
listen_addresses = '127.0.0.1'
max_connections = 200
shared_buffers = 32MB
min_wal_size = 32MB
max_wal_size = 256MB
timezone = 'UTC'
log_timezone = 'UTC'
wal_level = replica
max_wal_senders = 8
max_replication_slots = 8
# In the data folder, so that nothing remains of a process that was killed.
dynamic_shared_memory_type = ${process.platform === "win32" ? "windows" : "mmap"}
`;

/** An initialised data folder, which new servers copy instead of running initdb; its password is in a file beside it. */
export type InitialData = { readonly path: string; readonly passwordFile: string };

export async function initialData(programs: Programs, folder: string): Promise<InitialData> {
  const data = { path: join(folder, "initial"), passwordFile: join(folder, "password") };
  const password = randomBytes(12).toString("hex");
  writeFileSync(data.passwordFile, password, { mode: 0o600 });
  const verifierFile = join(folder, "verifier");
  writeFileSync(verifierFile, verifierOf(password), { mode: 0o600 });
  for (const file of [data.passwordFile, verifierFile]) changeOwner(programs.user, file);
  const logFile = join(folder, "initdb.log");
  const options = ["--no-sync", "--no-instructions", "--username=postgres", "--auth=scram-sha-256", "--wal-segsize=1"];
  const where = [`--pwfile=${verifierFile}`, "--encoding=UTF8", "--locale=C", "-D", data.path];
  const child = launch(programs.initdb, [...options, ...where], programs, folder, logFile);
  await hasEnded(child);
  if (child.exitCode !== 0) throw new Error(`initdb failed:\n${readFileSync(logFile, "utf8")}`);
  appendFileSync(join(data.path, "postgresql.conf"), SETTINGS);
  return data;
}

/** What the server keeps of the password. With one iteration instead of 4,096 each connection takes 3 ms less processor time. */
function verifierOf(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, 1, 32, "sha256");
  const keyFor = (purpose: string) => createHmac("sha256", salted).update(purpose).digest();
  const storedKey = createHash("sha256").update(keyFor("Client Key")).digest("base64");
  return `SCRAM-SHA-256$1:${salt.toString("base64")}$${storedKey}:${keyFor("Server Key").toString("base64")}`;
}

export class Cluster {
  readonly #programs: Programs;
  readonly #folder: string;
  readonly #name: string;
  readonly #password: string;
  #port = 0;
  readonly #replicas: Cluster[] = [];
  #process: ChildProcess | undefined;
  #wasKilled = false;

  private constructor(programs: Programs, folder: string, name: string, password: string) {
    this.#programs = programs;
    this.#folder = folder;
    this.#name = name;
    this.#password = password;
  }

  /** A new server that accepts connections. */
  static async create(programs: Programs, folder: string, initial: InitialData): Promise<Cluster> {
    const cluster = new Cluster(programs, folder, "server", readFileSync(initial.passwordFile, "utf8"));
    copyFolder(initial.path, cluster.#data);
    changeOwner(programs.user, cluster.#data);
    await cluster.#startOnFreePort();
    return cluster;
  }

  /** A streaming replica that accepts connections, and may be behind. What pg_basebackup does, which npm's PostgreSQL lacks. */
  async replica(): Promise<Cluster> {
    const name = `replica_${this.#replicas.length}`;
    const replica = new Cluster(this.#programs, this.#folder, name, this.#password);
    this.#replicas.push(replica);
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      // The slot keeps the log for the replica, also while it is stopped.
      await client.query("SELECT pg_create_physical_replication_slot($1, true)", [name]);
      await client.query("SELECT pg_backup_start($1, true)", [name]);
      copyFolder(this.#data, replica.#data, NOT_COPIED);
      const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
      writeFileSync(join(replica.#data, "backup_label"), rows[0]?.labelfile ?? "", { mode: 0o600 });
    } finally {
      await client.end();
    }
    const primary = `host=127.0.0.1 port=${this.#port} user=postgres password=${this.#password} application_name=${name}`;
    const settings = `primary_conninfo = '${primary}'\nprimary_slot_name = '${name}'\n`;
    appendFileSync(join(replica.#data, "postgresql.auto.conf"), settings);
    writeFileSync(join(replica.#data, "standby.signal"), "", { mode: 0o600 });
    changeOwner(this.#programs.user, replica.#data);
    await replica.#startOnFreePort();
    return replica;
  }

  /** Of the database `postgres`; the same after a restart. */
  get url(): string {
    return `postgresql://postgres:${this.#password}@127.0.0.1:${this.#port}/postgres`;
  }

  get #data(): string {
    return join(this.#folder, this.#name);
  }

  get #logFile(): string {
    return join(this.#folder, `${this.#name}.log`);
  }

  /** Starts it again on its port; it accepts connections when this resolves. */
  async start(): Promise<void> {
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      const error = await this.#tryToStart(deadline);
      if (error === undefined) return;
      // Sessions outlive a killed main process for a moment.
      if (!error.includes("is still in use") || performance.now() > deadline) throw new Error(error);
      await pause(20);
    }
  }

  /** Resolves when the main process is gone; sessions of a killed one may live for a moment longer. */
  async stop(mode: StopMode): Promise<void> {
    const running = this.#process;
    if (running === undefined) return;
    running.kill(SIGNALS[mode]);
    if (!(await hasEnded(running))) throw new Error(`PostgreSQL has not stopped:\n${this.#log().slice(-4000)}`);
    this.#process = undefined;
    this.#wasKilled = mode === "kill";
  }

  /** Stops it and its replicas before their folder is removed. */
  async end(): Promise<void> {
    for (const replica of this.#replicas) await replica.end();
    // A killed process leaves a System V shared memory segment, which only the next start takes up and frees.
    if (this.#wasKilled && this.#process === undefined) await this.start().catch(() => {});
    await this.stop("immediate");
  }

  async #startOnFreePort(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.#port = await freePort();
      const error = await this.#tryToStart(performance.now() + TIMEOUT_MS);
      if (error === undefined) return;
      // Another process can have taken the port in the meantime.
      if (!error.includes("could not create any TCP/IP sockets") || attempt === 5) throw new Error(error);
    }
  }

  /** The error, if it does not start. */
  async #tryToStart(deadline: number): Promise<string | undefined> {
    if (this.#process !== undefined) throw new Error("PostgreSQL is running already");
    const logged = this.#log().length;
    const options = ["-D", this.#data, "-p", String(this.#port)];
    const child = launch(this.#programs.postgres, options, this.#programs, this.#folder, this.#logFile);
    let reason = "";
    while (!isOver(child) && performance.now() < deadline) {
      reason = await connectionError(this.url);
      if (reason === "") {
        this.#process = child;
        this.#wasKilled = false;
        return undefined;
      }
      await pause(10);
    }
    child.kill("SIGKILL");
    return `PostgreSQL did not start: ${reason}\n${this.#log().slice(logged).slice(-4000)}`;
  }

  #log(): string {
    return existsSync(this.#logFile) ? readFileSync(this.#logFile, "utf8") : "";
  }
}

/** Empty if a connection can be opened. */
export async function connectionError(url: string): Promise<string> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
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

/** As the server's user, with its output in a file. It does not keep this process from ending. */
function launch(program: string, options: readonly string[], { user }: Programs, folder: string, logFile: string) {
  // Without what would change how PostgreSQL behaves, or the language of its messages.
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG|TZ$)/.test(name));
  const env = { ...Object.fromEntries(kept), LC_ALL: "C" };
  const log = openSync(logFile, "a");
  // Detached, so that Ctrl-C in a terminal does not reach it.
  const how = { ...user, cwd: folder, env, windowsHide: true, detached: true } as const;
  const child = spawn(program, options, { ...how, stdio: ["ignore", log, log] });
  closeSync(log);
  child.unref();
  child.once("error", (error) => appendFileSync(logFile, `${program}: ${error.message}\n`));
  return child;
}

const isOver = (child: ChildProcess): boolean => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

/** Whether it has ended in time. */
async function hasEnded(child: ChildProcess): Promise<boolean> {
  const deadline = performance.now() + TIMEOUT_MS;
  do await pause(5);
  while (!isOver(child) && performance.now() < deadline);
  return isOver(child);
}

/** What belongs to the running server alone, and the log, which a replica streams. */
const NOT_COPIED = /^(pg_(dynshmem|notify|replslot|serial|snapshots|stat_tmp|subtrans|wal)|postmaster\.(pid|opts))$/;

/** Folders that are left out are created empty. */
function copyFolder(from: string, to: string, leftOut?: RegExp): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    const isLeftOut = leftOut?.test(entry.name) === true;
    if (entry.isDirectory() && isLeftOut) mkdirSync(target, { mode: 0o700 });
    else if (entry.isDirectory()) copyFolder(source, target);
    else if (entry.isFile() && !isLeftOut) copyFile(source, target);
  }
}

/** A file can disappear while a running server's folder is copied; replaying the log does without it. */
function copyFile(from: string, to: string): void {
  try {
    // Not copyFileSync, after which ext4 flushes each file, and removing them waits for it.
    writeFileSync(to, readFileSync(from), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
