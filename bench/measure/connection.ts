// One connection, one request at a time, on a plain socket: an HTTP client would take longer than most responses.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Contestant } from "../contestants/contestant.ts";

/** `headers` are sent with every request. */
type Destination = Pick<Contestant, "url" | "headers">;

export type HttpResponse = { readonly status: number; readonly head: string; readonly body: string };

const TIMEOUT_MS = 60_000;

export class Connection implements Disposable {
  readonly #socket: Socket;
  readonly #head: string;
  #received: Buffer[] = [];
  #size = 0;
  /** Of the response, once it is known. */
  #expected = 0;
  #pending: { resolve: (response: HttpResponse) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket, { url, headers }: Destination) {
    this.#socket = socket;
    const lines = Object.entries({ host: new URL(url).host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#head = ` HTTP/1.1\r\n${lines.join("")}`;
    socket.setNoDelay(true);
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no response in ${TIMEOUT_MS} ms`)));
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", (error) => this.#pending?.reject(error));
    socket.on("close", () => this.#pending?.reject(new Error("the connection was closed")));
  }

  static async open(destination: Destination): Promise<Connection> {
    const { hostname, port } = new URL(destination.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    return new Connection(socket, destination);
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
  async timeGet(path: string): Promise<number> {
    const started = performance.now();
    const { status, body } = await this.get(path);
    const took = performance.now() - started;
    if (status !== 200) throw new Error(`${path} got ${status}: ${body.slice(0, 200)}`);
    return took;
  }

  [Symbol.dispose](): void {
    this.#pending = undefined;
    this.#socket.destroy();
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
    this.#received.push(chunk);
    this.#size += chunk.length;
    // A long response is put together once, not with every chunk.
    if (this.#size < this.#expected) return;
    const bytes = Buffer.concat(this.#received);
    const response = parseResponse(bytes);
    if (typeof response === "number") {
      this.#received = [bytes];
      this.#expected = response;
      return;
    }
    const pending = this.#pending;
    this.#received = [];
    this.#size = 0;
    this.#expected = 0;
    this.#pending = undefined;
    pending?.resolve(response);
  }
}

/** The response, or the bytes it needs at least. */
function parseResponse(bytes: Buffer): HttpResponse | number {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return bytes.length + 1;
  const head = bytes.toString("latin1", 0, end);
  const status = Number(head.slice(9, 12));
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
