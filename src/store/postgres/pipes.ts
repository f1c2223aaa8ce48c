// Questions go over a few connections, many at a time: the next is sent before the last is answered, and those of one turn of
// the event loop are sent together, so that a turn is one write and one read, not one for each.

import type { Socket } from "node:net";
import pg from "pg";
import { type ConnectionWishes, clientConfig, type Db, type Row, type Statement, type Value } from "./connection.ts";

export class Pipes implements Db {
  readonly #pipes: Pipe[];

  constructor(url: string, count: number, wishes: ConnectionWishes = {}) {
    this.#pipes = Array.from({ length: count }, () => new Pipe(clientConfig(url, wishes)));
  }

  rows(asked: Statement, values: readonly Value[] = []): Promise<Row[]> {
    // The one with the least to do; a slow answer holds up those behind it.
    let least = this.#pipes[0] as Pipe;
    for (const pipe of this.#pipes) if (pipe.waiting < least.waiting) least = pipe;
    return least.rows(asked, values);
  }

  /** Questions from now on go over new connections, to wherever the address leads now. */
  renew(): void {
    for (const pipe of this.#pipes) void pipe.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.#pipes.map((pipe) => pipe.close()));
  }
}

/** What the driver says of a connection that ended under a question, or before it. */
const LOST = /^Connection terminated|not queryable|ECONNRESET|EPIPE/;

/** One connection, made when it is needed, and again when it was lost. */
class Pipe {
  readonly #config: pg.ClientConfig;
  #client: Promise<pg.Client> | undefined;
  waiting = 0;

  constructor(config: pg.ClientConfig) {
    this.#config = config;
  }

  /** A question whose connection is lost is asked once more, on a new one. */
  async rows(asked: Statement, values: readonly Value[]): Promise<Row[]> {
    this.waiting++;
    try {
      return await this.#ask(asked, values).catch((error: Error) => {
        if (!LOST.test(error.message)) throw error;
        return this.#ask(asked, values);
      });
    } finally {
      this.waiting--;
    }
  }

  async #ask({ name, text }: Statement, values: readonly Value[]): Promise<Row[]> {
    this.#client ??= this.#connect();
    const connected = this.#client;
    try {
      const client = await connected;
      this.#gather(client);
      const { rows } = await client.query<unknown[]>({ name, text, values: values as unknown[], rowMode: "array" });
      return rows;
    } catch (error) {
      if (LOST.test((error as Error).message) && this.#client === connected) this.#client = undefined;
      throw error;
    }
  }

  /** What is written from now on leaves at the end of this turn. */
  #gather(client: pg.Client): void {
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
    if (stream.writableCorked > 0) return;
    stream.cork();
    setImmediate(() => stream.uncork());
  }

  /** What is under way is answered first. */
  async close(): Promise<void> {
    const connecting = this.#client;
    this.#client = undefined;
    const client = await connecting?.catch(() => undefined);
    await client?.end();
  }

  #connect(): Promise<pg.Client> {
    const forget = (): void => {
      if (this.#client === connecting) this.#client = undefined;
    };
    // The types of `pg` do not know `pipeline` yet.
    const client = new pg.Client({ ...this.#config, pipeline: true } as pg.ClientConfig);
    client.on("error", forget);
    client.on("end", forget);
    const connecting = client.connect().then(
      () => client,
      (error) => {
        forget();
        throw error;
      },
    );
    return connecting;
  }
}
