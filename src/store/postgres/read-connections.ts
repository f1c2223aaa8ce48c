// Connections for reads: many statements are sent before the first has returned, and those of one turn of the event loop are
// sent in one write.

import { Socket } from "node:net";
import pg from "pg";
import type { Row } from "../columns.ts";
import {
  type ConnectionOptions,
  clientConfig,
  type Db,
  endClient,
  IDLE_MS,
  type Statement,
  throwReadError,
  type Value,
} from "./connection.ts";

/** The most connections of a process that are for reads. */
export const READ_CONNECTIONS = 4;
/** For long reads, besides those for all others: as many as run at a time. */
export const LONG_READ_CONNECTIONS = 2;

export class ReadConnections implements Db {
  readonly #connections: ReadConnection[];
  readonly #options: ConnectionOptions;

  constructor(url: string, count: number, options: ConnectionOptions, idleMs = IDLE_MS) {
    this.#options = options;
    this.#connections = Array.from({ length: count }, () => new ReadConnection(clientConfig(url, options), idleMs));
  }

  rows(query: Statement, values: readonly Value[] = []): Promise<Row[]> {
    // A slow result delays those behind it: the least busy connection is used.
    let least = this.#connections[0] as ReadConnection;
    for (const connection of this.#connections) if (connection.running < least.running) least = connection;
    return least.rows(query, values);
  }

  /** Later reads use new connections, which may lead to another server. */
  renew(url?: string): void {
    for (const connection of this.#connections) {
      if (url !== undefined) connection.config = clientConfig(url, this.#options);
      void connection.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }
}

/** Messages of the driver for a connection that ended during or before a statement. */
const LOST = /^Connection terminated|not queryable|ECONNRESET|EPIPE/;

type Connected = { readonly client: pg.Client; readonly socket: Socket; lastRead?: Promise<unknown> };

/** One connection, opened when it is needed, and again when it was lost or closed because nothing was read for a while. */
class ReadConnection {
  config: pg.ClientConfig;
  #connected: Promise<Connected> | undefined;
  readonly #idleMs: number;
  #idle: NodeJS.Timeout | undefined;
  running = 0;

  constructor(config: pg.ClientConfig, idleMs: number) {
    this.config = config;
    this.#idleMs = idleMs;
  }

  /** A read whose connection is lost is run once more, on a new one. */
  async rows(query: Statement, values: readonly Value[]): Promise<Row[]> {
    this.running++;
    try {
      return await this.#run(query, values).catch((error: Error) => {
        if (!LOST.test(error.message)) return throwReadError(error);
        return this.#run(query, values).catch(throwReadError);
      });
    } finally {
      this.running--;
    }
  }

  async #run({ name, text }: Statement, values: readonly Value[]): Promise<Row[]> {
    this.#connected ??= this.#connect();
    this.#idle ??= setTimeout(() => this.close(), this.#idleMs).unref();
    this.#idle.refresh();
    const connected = this.#connected;
    try {
      const current = await connected;
      const { client, socket } = current;
      // What is written from now on leaves at the end of this turn.
      if (socket.writableCorked === 0) {
        socket.cork();
        setImmediate(() => socket.uncork());
      }
      const read = client.query<unknown[]>({ name, text, values: values as unknown[], rowMode: "array" });
      current.lastRead = read;
      return (await read).rows;
    } catch (error) {
      if (LOST.test((error as Error).message) && this.#connected === connected) this.#connected = undefined;
      throw error;
    }
  }

  /** Running reads, which have a time limit, return first. */
  async close(): Promise<void> {
    const connecting = this.#connected;
    this.#connected = undefined;
    clearTimeout(this.#idle);
    this.#idle = undefined;
    const connected = await connecting?.catch(() => undefined);
    if (connected === undefined) return;
    await connected.lastRead?.catch(() => {});
    await endClient(connected.client);
  }

  #connect(): Promise<Connected> {
    const socket = new Socket();
    const discardConnection = (): void => {
      if (this.#connected === connecting) this.#connected = undefined;
    };
    // The types of `pg` do not know `pipeline` yet.
    const client = new pg.Client({ ...this.config, stream: () => socket, pipeline: true } as pg.ClientConfig);
    client.on("error", discardConnection);
    client.on("end", discardConnection);
    const connecting = client.connect().then(
      () => ({ client, socket }),
      (error) => {
        discardConnection();
        throw error;
      },
    );
    return connecting;
  }
}
