// One connection, one request at a time, on a plain socket: an HTTP client would take longer than most responses.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Contestant } from "../contestants/contestant.ts";

/** `headers` are sent with every request. */
type Destination = Pick<Contestant, "url" | "headers">;

export type HttpResponse = { readonly status: number; readonly head: string; readonly body: string };

const TIMEOUT_MS = 60_000;
const READ_BYTES = 256 * 1024;

export class Connection implements Disposable {
  readonly #socket: Socket;
  readonly #head: string;
  #received: Buffer[] = [];
  #size = 0;
  /** Of the response, once it is known. */
  #expected = 0;
  #isTimed = false;
  /** What is returned of a long response that is only timed: its bytes are counted, but not kept. */
  #counted: HttpResponse | undefined;
  #pending: { resolve: (response: HttpResponse) => void; reject: (error: Error) => void } | undefined;

  private constructor({ url, headers }: Destination) {
    const { hostname, port, host } = new URL(url);
    // Into one buffer: with a new one for each part, this process would spend the time of long responses collecting garbage.
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const callback = (size: number): true => {
      this.#receive(buffer.subarray(0, size));
      return true;
    };
    const socket = connect({ port: Number(port), host: hostname, onread: { buffer, callback } });
    this.#socket = socket;
    const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#head = ` HTTP/1.1\r\n${lines.join("")}`;
    socket.setNoDelay(true);
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no response in ${TIMEOUT_MS} ms`)));
    socket.on("error", (error) => this.#pending?.reject(error));
    socket.on("close", () => this.#pending?.reject(new Error("the connection was closed")));
  }

  static async open(destination: Destination): Promise<Connection> {
    const connection = new Connection(destination);
    await once(connection.#socket, "connect");
    return connection;
  }

  /** `headers` besides those of every request. */
  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpResponse> {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return this.#request(() => this.#socket.write(`GET ${path}${this.#head}${lines.join("")}\r\n`));
  }

  post(path: string, json: Buffer): Promise<HttpResponse> {
    const bodyHeaders = `content-type: application/json\r\ncontent-length: ${json.length}\r\n`;
    return this.#request(() => {
      this.#socket.cork();
      this.#socket.write(`POST ${path}${this.#head}${bodyHeaders}\r\n`);
      this.#socket.write(json);
      this.#socket.uncork();
    });
  }

  /** Milliseconds until the complete response has arrived. */
  timeGet(path: string): Promise<number> {
    return this.#time(path, () => this.get(path));
  }

  timePost(path: string, json: Buffer): Promise<number> {
    return this.#time(path, () => this.post(path, json));
  }

  [Symbol.dispose](): void {
    this.#pending = undefined;
    this.#socket.destroy();
  }

  async #time(path: string, request: () => Promise<HttpResponse>): Promise<number> {
    this.#isTimed = true;
    const started = performance.now();
    const { status, body } = await request();
    const took = performance.now() - started;
    this.#isTimed = false;
    if (status !== 200) throw new Error(`${path} got ${status}: ${body.slice(0, 200)}`);
    return took;
  }

  #request(write: () => void): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    this.#pending = { resolve, reject };
    // It reports its end once: a later request would wait forever.
    if (this.#socket.destroyed) reject(new Error("the connection was closed"));
    write();
    return promise;
  }

  #receive(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#counted === undefined) this.#received.push(Buffer.from(chunk));
    // A long response is put together once, not with every chunk.
    if (this.#size < this.#expected) return;
    if (this.#counted !== undefined) {
      this.#finish(this.#counted);
      return;
    }
    const bytes = Buffer.concat(this.#received);
    const response = parseResponse(bytes);
    if (typeof response !== "number") {
      this.#finish(response);
      return;
    }
    this.#received = [bytes];
    this.#expected = response;
    const isLengthKnown = response > bytes.length + 1;
    if (this.#isTimed && isLengthKnown) this.#counted = { status: statusOf(bytes.toString("latin1", 0, 12)), head: "", body: "" };
  }

  #finish(response: HttpResponse): void {
    const pending = this.#pending;
    this.#received = [];
    this.#size = 0;
    this.#expected = 0;
    this.#counted = undefined;
    this.#pending = undefined;
    pending?.resolve(response);
  }
}

const statusOf = (head: string): number => Number(head.slice(9, 12));

/** The response, or the bytes it needs at least. */
function parseResponse(bytes: Buffer): HttpResponse | number {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return bytes.length + 1;
  const head = bytes.toString("latin1", 0, end);
  const status = statusOf(head);
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  const rest = bytes.subarray(end + 4);
  if (status === 304) return { status, head, body: "" };
  if (length !== undefined) {
    return rest.length < Number(length) ? end + 4 + Number(length) : { status, head, body: rest.toString("utf8") };
  }
  if (!rest.subarray(-7).equals(Buffer.from("\r\n0\r\n\r\n"))) return bytes.length + 1;
  return { status, head, body: decodeChunks(rest) };
}

function decodeChunks(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let start = 0; ; ) {
    const line = bytes.indexOf("\r\n", start);
    const size = Number.parseInt(bytes.toString("latin1", start, line), 16);
    if (size === 0) return Buffer.concat(parts).toString("utf8");
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    start = line + 2 + size + 2;
  }
}
