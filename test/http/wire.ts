// Bytes on a socket, for requests that no HTTP library would send.

import type { IncomingHttpHeaders } from "node:http";
import { connect, type Socket } from "node:net";

export type RawAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

type Address = { readonly url: string };

export function open({ url }: Address): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.setNoDelay(true);
  return socket;
}

/** Everything the service says until it closes the connection; a reset is a way of closing. */
export function hear(socket: Socket, patienceMs = 5000): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const impatient = setTimeout(() => {
    reject(new Error(`still open after ${patienceMs} ms; heard ${JSON.stringify(Buffer.concat(chunks).toString("latin1"))}`));
    socket.destroy();
  }, patienceMs);
  socket.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
  socket.on("end", () => socket.end());
  socket.on("error", () => {});
  socket.on("close", () => {
    clearTimeout(impatient);
    resolve(Buffer.concat(chunks));
  });
  return promise;
}

/** Sends the bytes, and hears the service out. `hangUp` ends our side of the connection after the last byte. */
export function exchange(address: Address, bytes: string | Buffer, { hangUp = false } = {}): Promise<Buffer> {
  const socket = open(address);
  const heard = hear(socket);
  if (hangUp) socket.end(bytes);
  else socket.write(bytes);
  return heard;
}

/** The answers in what was heard, one after the other. `bodiless` ones were asked for with HEAD. */
export function answersIn(heard: Buffer, bodiless = false): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = heard; rest.length > 0; ) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) throw new Error(`no answer: ${JSON.stringify(rest.toString("latin1"))}`);
    const [line = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    const headers = Object.fromEntries(lines.map(splitHeader)) as IncomingHttpHeaders;
    const length = bodiless || status < 200 || status === 304 ? 0 : Number(headers["content-length"] ?? 0);
    if (rest.length < end + 4 + length) throw new Error(`an answer is cut short: ${line}`);
    answers.push({ status, headers, text: rest.subarray(end + 4, end + 4 + length).toString() });
    rest = rest.subarray(end + 4 + length);
  }
  return answers;
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
