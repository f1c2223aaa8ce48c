// The thread for management reads, so that a long one delays nobody else.

import { parentPort, workerData } from "node:worker_threads";
import { openReader, retryWhileBusy } from "./connection.ts";
import { managementReads } from "./management-reads.ts";
import { type Call, failedReply, type Reply } from "./thread.ts";

export type ManagementReadTable = ReturnType<typeof managementReads>;

if (parentPort !== null) {
  const port = parentPort;
  const db = retryWhileBusy(() => openReader((workerData as { file: string }).file));
  const reads = retryWhileBusy(() => managementReads(db));

  /** Each call reads one snapshot. */
  function reply({ id, name, args }: Call): Reply {
    try {
      db.exec("BEGIN");
      const read = reads[name as keyof ManagementReadTable] as (...args: readonly unknown[]) => unknown;
      return { id, value: read(...args) };
    } catch (error) {
      return failedReply(id, error);
    } finally {
      // After some errors SQLite has ended the transaction itself.
      if (db.isTransaction) db.exec("COMMIT");
    }
  }

  port.on("message", (message: Call | "close") => {
    if (message !== "close") {
      port.postMessage(reply(message));
      return;
    }
    db.close();
    port.close();
  });
}
