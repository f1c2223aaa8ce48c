// The connections of the HTTP server: how many there may be, what each may hold, and which are closed.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Observe } from "../domain/log-events.ts";
import { throttled } from "../domain/throttled.ts";
import type { ConnectionLimit } from "./connection-limit.ts";

export type ConnectionRules = {
  /** Maximum number of connections, of all addresses together. */
  readonly max: number;
  readonly limit: ConnectionLimit;
  /** A response of which the system has accepted nothing for this long is given up. */
  readonly stalledMs: number;
};

export const CONNECTION_DEFAULTS = { max: 10_000, stalledMs: 20_000 };

/** Unsent responses to pipelined requests on one connection. */
const MAX_UNSENT_RESPONSES = 50;

/** Number of checks of a connection within `stalledMs`. */
const CHECKS_BEFORE_STALLED = 10;

type ConnectionState = {
  /** Responses not yet sent. */
  unsent: number;
  /** The bytes of all requests that have been responded to. */
  bytesRead: number;
  /** Bytes that the system had accepted at the last check. */
  sent: number;
  /** When it last accepted some, or had none to accept. */
  sentAt: number;
};

/** `earlier`: the response to the request before, if it was unsent then. */
type LastRequest = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly earlier: ServerResponse | undefined;
};

const lastRequests = new WeakMap<Socket, LastRequest>();

/** The last request on a connection, if it has arrived completely. */
export function lastCompleteRequest(socket: Socket): IncomingMessage | undefined {
  const request = lastRequests.get(socket)?.request;
  return request?.complete === true ? request : undefined;
}

/** The last response to a request that has arrived completely, if it is not yet sent. */
export function unsentResponse(socket: Socket): ServerResponse | undefined {
  const last = lastRequests.get(socket);
  const response = last?.request.complete === true ? last.response : last?.earlier;
  return response?.closed === false ? response : undefined;
}

export function manageConnections(server: Server, { max, limit, stalledMs }: ConnectionRules, observe: Observe): void {
  /** Connections in the order of their last response, or else of their opening. */
  const connections = new Map<Socket, ConnectionState>();
  function drop(socket: Socket, reason: "too_many" | "too_slow"): void {
    connections.delete(socket);
    observe({ kind: "connection_dropped", reason, address: socket.remoteAddress ?? "" });
    socket.resetAndDestroy();
  }

  /**
   * Connections that do nothing do not block new clients: the one that has been idle longest is dropped for a new one, or else the one
   * that has been sending its request longest. False: it is full, and there is none to drop.
   */
  function dropOneIfFull(): boolean {
    if (connections.size < max) return true;
    let slowest: Socket | undefined;
    for (const [socket, { unsent }] of connections) {
      if (unsent === 0) {
        drop(socket, "too_many");
        return true;
      }
      if (lastCompleteRequest(socket) === undefined) slowest ??= socket;
    }
    if (slowest !== undefined) drop(slowest, "too_many");
    return slowest !== undefined;
  }

  server.on("connection", (socket: Socket) => {
    if (!limit.admit(socket) || !dropOneIfFull()) {
      drop(socket, "too_many");
      return;
    }
    connections.set(socket, { unsent: 0, bytesRead: 0, sent: 0, sentAt: 0 });
    socket.once("close", () => connections.delete(socket));
  });

  server.prependListener("request", (request, response) => {
    const { socket } = request;
    lastRequests.set(socket, { request, response, earlier: unsentResponse(socket) });
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.unsent++;
    if (connection.unsent === 1) connection.sentAt = performance.now();
    // Node stops reading while responses are unsent, but only after all requests of a packet.
    if (connection.unsent > MAX_UNSENT_RESPONSES && !socket.destroyed) drop(socket, "too_many");
    response.once("close", () => {
      connection.unsent--;
      connection.bytesRead = socket.bytesRead;
      if (connections.delete(socket)) connections.set(socket, connection);
    });
  });

  // Connections that are idle for too long. Without a listener Node would close all of them in one turn.
  const closeIdle = throttled(({ socket, bytesRead }: { socket: Socket; bytesRead: number }) => {
    const isIdle = connections.get(socket)?.unsent === 0 && socket.bytesRead === bytesRead;
    if (isIdle) socket.destroy();
    return isIdle;
  });
  server.on("timeout", (socket: Socket) => closeIdle({ socket, bytesRead: socket.bytesRead }));

  /** Also notes what was sent since the last check. */
  function isStalled(socket: Socket): boolean {
    const connection = connections.get(socket);
    if (connection === undefined || connection.unsent === 0) return false;
    const now = performance.now();
    const sent = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength > 0 && sent === connection.sent) return now - connection.sentAt >= stalledMs;
    connection.sent = sent;
    connection.sentAt = now;
    return false;
  }
  const dropStalled = throttled((socket: Socket) => {
    const isStillStalled = isStalled(socket);
    if (isStillStalled) drop(socket, "too_slow");
    return isStillStalled;
  });
  const timer = setInterval(() => {
    for (const socket of connections.keys()) if (isStalled(socket)) dropStalled(socket);
  }, stalledMs / CHECKS_BEFORE_STALLED);
  timer.unref();
  server.once("close", () => clearInterval(timer));

  /** Replaces that of Node, which also closes connections whose response is complete but not yet sent. */
  server.closeIdleConnections = () => {
    for (const [socket, { unsent, bytesRead }] of connections) {
      if (unsent === 0 && socket.bytesRead === bytesRead) socket.destroy();
    }
  };
}
