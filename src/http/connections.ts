// The connections of the HTTP server: how many there may be, what each may hold, and which are closed.

import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Observe } from "../domain/events.ts";
import type { ConnectionLimit } from "./connection-limit.ts";

export type ConnectionRules = {
  /** Of all addresses together. */
  readonly max: number;
  readonly limit: ConnectionLimit;
  /** A response of which the system has accepted nothing for this long is given up. */
  readonly stalledMs: number;
};

export const CONNECTION_DEFAULTS = { max: 10_000, stalledMs: 20_000 };

/** Of pipelined requests. */
const MAX_UNSENT_RESPONSES = 50;

/** `unsent`: responses not yet sent. `bytesRead`: those of all requests that have been responded to. */
type Connection = { unsent: number; bytesRead: number };

export function manageConnections(server: Server, { max, limit, stalledMs }: ConnectionRules, observe: Observe): void {
  /** In the order of their last response, or else of their opening. */
  const connections = new Map<Socket, Connection>();
  function drop(socket: Socket, reason: "too_many" | "too_slow"): void {
    connections.delete(socket);
    observe({ kind: "connection_dropped", reason, address: socket.remoteAddress ?? "" });
    socket.resetAndDestroy();
  }

  /** Connections that do nothing keep nobody out: the one that has been idle longest is dropped for a new one. */
  function hasPlace(): boolean {
    if (connections.size < max) return true;
    for (const [socket, { unsent }] of connections) {
      if (unsent > 0) continue;
      drop(socket, "too_many");
      return true;
    }
    return false;
  }

  server.on("connection", (socket: Socket) => {
    if (!limit.admit(socket) || !hasPlace()) {
      drop(socket, "too_many");
      return;
    }
    connections.set(socket, { unsent: 0, bytesRead: 0 });
    socket.once("close", () => connections.delete(socket));
  });

  server.prependListener("request", ({ socket }, response) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.unsent++;
    // Node stops reading while responses are unsent, but only after all requests of a packet.
    if (connection.unsent > MAX_UNSENT_RESPONSES && !socket.destroyed) drop(socket, "too_many");
    response.once("close", () => {
      connection.unsent--;
      connection.bytesRead = socket.bytesRead;
      if (connections.delete(socket)) connections.set(socket, connection);
    });
  });

  // A timeout of Node is time without progress in either direction. Without a listener Node would close the connection.
  const later = taskQueue();
  server.setTimeout(stalledMs, (socket: Socket) => {
    later(() => {
      if (connections.get(socket)?.unsent === 0) socket.destroy();
      else if (socket.writableLength > 0) drop(socket, "too_slow");
    });
  });

  /** Replaces that of Node, which also closes connections whose response is complete but not yet sent. */
  server.closeIdleConnections = () => {
    for (const [socket, { unsent, bytesRead }] of connections) {
      if (unsent === 0 && socket.bytesRead === bytesRead) socket.destroy();
    }
  };
}

const TASKS_PER_TURN = 20;

/** Thousands of connections may time out at once: some are handled per turn of the event loop, so that requests do not wait for all. */
export function taskQueue(): (task: () => void) => void {
  const tasks: (() => void)[] = [];
  function runSome(): void {
    for (const task of tasks.splice(0, TASKS_PER_TURN)) task();
    if (tasks.length > 0) setImmediate(runSome);
  }
  return (task) => {
    if (tasks.push(task) === 1) setImmediate(runSome);
  };
}
