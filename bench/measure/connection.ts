// One connection, one request at a time, on a bare socket: an HTTP client would take longer than most of the answers.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Contestant } from "../contestants/contestant.ts";

/** Whom a connection is to, and what is said with every request. */
type Asked = Pick<Contestant, "url" | "headers">;

export type Answer = { readonly status: number; readonly head: string; readonly body: string };

const PATIENCE_MS = 60_000;
const NOTHING: Buffer = Buffer.alloc(0);

export class Connection implements Disposable {
  readonly #socket: Socket;
  readonly #head: string;
  #received = NOTHING;
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket, { url, headers }: Asked) {
    this.#socket = socket;
    const lines = Object.entries({ host: new URL(url).host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#head = ` HTTP/1.1\r\n${lines.join("")}`;
    socket.setNoDelay(true);
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`no answer in ${PATIENCE_MS} ms`)));
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", (error) => this.#waiting?.reject(error));
    socket.on("close", () => this.#waiting?.reject(new Error("the connection was closed")));
  }

  static async open(asked: Asked): Promise<Connection> {
    const { hostname, port } = new URL(asked.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    return new Connection(socket, asked);
  }

  ask(path: string): Promise<Answer> {
    return this.#say(() => this.#socket.write(`GET ${path}${this.#head}\r\n`));
  }

  send(path: string, json: Buffer): Promise<Answer> {
    const about = `content-type: application/json\r\ncontent-length: ${json.length}\r\n`;
    return this.#say(() => {
      this.#socket.cork();
      this.#socket.write(`POST ${path}${this.#head}${about}\r\n`);
      this.#socket.write(json);
      this.#socket.uncork();
    });
  }

  /** Milliseconds until the whole answer is here. */
  async time(path: string): Promise<number> {
    const asked = performance.now();
    const { status, body } = await this.ask(path);
    const took = performance.now() - asked;
    if (status !== 200) throw new Error(`${path} is answered with ${status}: ${body.slice(0, 200)}`);
    return took;
  }

  [Symbol.dispose](): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #say(request: () => void): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting = { resolve, reject };
    request();
    return promise;
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const answer = wholeAnswer(this.#received);
    if (answer === undefined) return;
    const waiting = this.#waiting;
    this.#received = NOTHING;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }
}

function wholeAnswer(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const status = Number(head.slice(9, 12));
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  const rest = bytes.subarray(end + 4);
  if (length !== undefined) return rest.length < Number(length) ? undefined : { status, head, body: rest.toString("utf8") };
  if (!rest.subarray(-7).equals(Buffer.from("\r\n0\r\n\r\n"))) return undefined;
  return { status, head, body: unchunked(rest) };
}

function unchunked(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let start = 0; ; ) {
    const line = bytes.indexOf("\r\n", start);
    const size = Number.parseInt(bytes.toString("latin1", start, line), 16);
    if (size === 0) return Buffer.concat(parts).toString("utf8");
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    start = line + 2 + size + 2;
  }
}
