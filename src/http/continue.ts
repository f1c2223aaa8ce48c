// Bodies that are still to come. Senders who ask first (`Expect: 100-continue`) are told to go on once their body is wanted,
// so that nobody sends one that is refused for its key, its size or its kind.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { finished } from "node:stream/promises";

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

export function answerExpectations(server: Server): void {
  server.on("checkContinue", (request, response) => {
    waiting.set(request, response);
    server.emit("request", request, response);
  });
  // Any other expectation is overlooked.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

export function goOn(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}

/** Nobody knows whether one who asked, and was not told to go on, will send a body: Node closes such a connection. */
export function isComing(request: IncomingMessage): boolean {
  if (request.complete || waiting.has(request)) return false;
  const { "content-length": length = "0", "transfer-encoding": chunked } = request.headers;
  return length !== "0" || chunked !== undefined;
}

/** Gives the text at once, and ends when the rest of the body has come and was dropped, or its sender is gone. */
export async function* beforeAllHasCome(request: IncomingMessage, text: string): AsyncGenerator<string> {
  yield text;
  request.resume();
  await finished(request).catch(() => {});
}
