// A process of its own that holds PostgreSQL servers for another one. It follows that one's orders, and when that one is gone,
// however it went, it stops the servers and removes their folder.

import { rmSync } from "node:fs";
import { Cluster } from "./cluster.ts";
import type { Answer, Kept, Order, Told } from "./orders.ts";
import { folderOf, programsFor, serverUser } from "./programs.ts";

const ending = new AbortController();
const clusters: Cluster[] = [];
let folder: string | undefined;
let work: Promise<void> = Promise.resolve();

async function follow(order: Order): Promise<Kept> {
  const server = "server" in order ? order.server : clusters.length;
  const cluster = clusters[server];
  if (order.do === "make") {
    const user = serverUser();
    folder ??= folderOf(user);
    clusters.push(await Cluster.make(programsFor(user, folder), folder, `server_${server}`, ending.signal));
    return told(server);
  }
  if (cluster === undefined) throw new Error(`there is no server ${server}`);
  if (order.do === "replica") {
    clusters.push(await cluster.replica(`server_${clusters.length}`));
    return told(clusters.length - 1);
  }
  if (order.do === "start") await cluster.start();
  else await cluster.stop(order.how);
  return told(server);
}

function told(server: number): Kept {
  const cluster = clusters[server];
  if (cluster === undefined || folder === undefined) throw new Error(`there is no server ${server}`);
  return { server, url: cluster.url, pid: cluster.pid, folder };
}

async function answer({ id, order }: Told): Promise<void> {
  const given: Answer = await follow(order).then(
    (kept) => ({ id, kept }),
    (error: unknown) => ({ id, fault: error instanceof Error ? error.message : String(error) }),
  );
  // Whoever asked may be gone by now.
  if (process.connected) process.send?.(given, undefined, {}, () => {});
}

function end(): void {
  ending.abort();
  work = work.then(async () => {
    for (const cluster of clusters.toReversed()) await cluster.end();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    process.exit();
  });
}

process.on("message", (message) => {
  work = work.then(() => answer(message as Told));
});
process.once("disconnect", end);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
