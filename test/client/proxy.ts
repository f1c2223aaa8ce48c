// An HTTP proxy in front of a service that can respond in its place, or lose its response.

import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Lifetime } from "../support/service.ts";

/** What becomes of one request: it is passed on, its response is lost, no response is ever sent, or this one is. */
export type Step =
  | "pass"
  | "lose"
  | "hang"
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export type Passed = {
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  /** Of the service; 0 where it was not reached. */
  status: number;
};

export type Proxy = {
  readonly url: string;
  /** For the next requests, in this order; later ones are passed on. */
  readonly plan: (...steps: readonly Step[]) => void;
  /** All requests since the last plan. */
  readonly requests: readonly Passed[];
};

export async function httpProxy(life: Lifetime, target: string): Promise<Proxy> {
  const steps: Step[] = [];
  const requests: Passed[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const passed: Passed = { at: performance.now(), method, url, headers, status: 0 };
    requests.push(passed);
    const step = steps.shift() ?? "pass";
    const body = await buffer(request);
    if (step === "hang") return;
    if (typeof step === "object") {
      response.writeHead(step.status, step.headers).end(step.body);
      return;
    }
    await forward(target, passed, body, step === "pass" ? response : undefined);
    if (step === "lose") request.socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  life.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    plan(...planned) {
      steps.splice(0, steps.length, ...planned);
      requests.length = 0;
    },
    requests,
  };
}

async function forward(target: string, passed: Passed, body: Buffer, response: ServerResponse | undefined): Promise<void> {
  const { hostname, port } = new URL(target);
  const call = httpRequest({ hostname, port, path: passed.url, method: passed.method, headers: passed.headers });
  call.end(body);
  const [received] = (await once(call, "response")) as [IncomingMessage];
  passed.status = received.statusCode ?? 0;
  const content = await buffer(received);
  response?.writeHead(passed.status, received.headers).end(content);
}
