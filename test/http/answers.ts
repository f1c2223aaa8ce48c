// Calls to a service. Every answer is held against the OpenAPI document before a test sees it.

import assert from "node:assert/strict";
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { type Contract, contractOf, type Document, resolved } from "./contract.ts";

type Address = { readonly url: string };

export type Ask = {
  readonly method?: string;
  readonly key?: string;
  /** An undefined one is left out, even if it would be sent otherwise. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  /** Sent as a form unless the headers say otherwise. */
  readonly body?: string | Buffer;
};

export type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

export type Item = Readonly<Record<string, unknown>>;
export type List = {
  readonly object: "list";
  readonly data: readonly Item[];
  readonly page: number;
  readonly size: number;
  readonly total_pages: number;
  readonly total_items: number;
};
export type Problem = {
  readonly title: string;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly param?: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
  readonly request_id: string;
};

/** The answer, unchecked: for what the document does not describe. */
export function send({ url }: Address, path: string, { method = "GET", key, headers = {}, body }: Ask = {}): Promise<Answer> {
  const usual: Record<string, string | undefined> = { "x-api-key": key };
  if (body !== undefined) {
    usual["content-type"] = "application/x-www-form-urlencoded";
    if (headers["transfer-encoding"] === undefined) usual["content-length"] = String(Buffer.byteLength(body));
  }
  const given = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== undefined);
  const sent = Object.fromEntries(given) as OutgoingHttpHeaders;
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const call = request({ hostname, port, path, method, headers: sent }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
    );
  });
  call.on("error", reject);
  call.end(body);
  return promise;
}

const contracts = new WeakMap<Address, Promise<Contract>>();

/** What the service itself says of its answers. */
export function contract(service: Address): Promise<Contract> {
  const known = contracts.get(service);
  if (known !== undefined) return known;
  const asked = send(service, "/openapi.json").then(({ text }) => contractOf(resolved(JSON.parse(text) as Document)));
  contracts.set(service, asked);
  return asked;
}

export async function get(service: Address, path: string, ask: Ask = {}): Promise<Answer> {
  const { check } = await contract(service);
  const answer = await send(service, path, ask);
  check({ ...answer, path, method: ask.method ?? "GET" });
  return answer;
}

/** The object of a 200. */
export function objectOf({ status, text }: Answer): Item {
  assert.equal(status, 200, text);
  return JSON.parse(text) as Item;
}

/** The list of a 200. */
export function listOf({ status, text }: Answer): List {
  assert.equal(status, 200, text);
  return JSON.parse(text) as List;
}

export function idsOf(answer: Answer): unknown[] {
  return listOf(answer).data.map(({ id }) => id);
}

/** The problem of a refusal, which must be this one. */
export function refused(answer: Answer, status: number, code: ErrorCode, param?: string): Problem {
  assert.equal(answer.status, status, answer.text);
  const problem = JSON.parse(answer.text) as Problem;
  assert.equal(problem.code, code, answer.text);
  assert.equal(problem.param, param, answer.text);
  return problem;
}

/** What is the same for two requests that are told the same. */
export function withoutRequestId({ status, headers, text }: Answer): unknown {
  const { "x-request-id": id, date: _, ...rest } = headers;
  return { status, headers: rest, text: text.replace(String(id), "…") };
}
