// The thread for reads that may be long, so that one delays nobody else.

import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { AlertSettings } from "../../domain/alerts/evaluate.ts";
import type { AuditContext } from "../../domain/audit.ts";
import type { IdempotencyKey, Provision } from "../../domain/commands/command.ts";
import { UNRESTRICTED } from "../../domain/key.ts";
import type { InstantRange } from "../../domain/reading.ts";
import { openReader, retryWhileBusy } from "./connection.ts";
import { longReads } from "./long-reads.ts";
import { telemetryReads } from "./telemetry-reads.ts";
import { type Call, failedReply, type Reply, type ThreadData } from "./thread.ts";

export type ReaderThreadReads = ReturnType<typeof threadReads>;

function threadReads(db: DatabaseSync, alerts: AlertSettings) {
  const { readingColumns } = telemetryReads(db);
  return {
    ...longReads(db),
    historyColumns: (tankId: string, range: InstantRange) => readingColumns(tankId, range, UNRESTRICTED),
    checkProvision: async (rows: Provision, context: AuditContext, key?: IdempotencyKey) => {
      // Loaded when it is needed: half the code of this thread, and rarely used.
      const [{ checkProvisionOnce }, { transactionOn }] = await Promise.all([
        import("../core/commands.ts"),
        import("./transaction.ts"),
      ]);
      const tx = transactionOn(db, () => {}, alerts);
      return checkProvisionOnce(tx, rows, context, key);
    },
  };
}

if (parentPort !== null) {
  const port = parentPort;
  const { file, alerts } = workerData as ThreadData;
  const db = retryWhileBusy(() => openReader(file));
  const reads = retryWhileBusy(() => threadReads(db, alerts));
  let last = Promise.resolve();

  /** Each call reads one snapshot. */
  async function reply({ id, name, args }: Call): Promise<Reply> {
    try {
      db.exec("BEGIN");
      const read = reads[name as keyof ReaderThreadReads] as (...args: readonly unknown[]) => unknown;
      return { id, value: await read(...args) };
    } catch (error) {
      return failedReply(id, error);
    } finally {
      // After some errors SQLite has ended the transaction itself; in a damaged file COMMIT may fail.
      if (db.isTransaction) db.exec("ROLLBACK");
    }
  }

  async function receive(message: Call | "close"): Promise<void> {
    if (message !== "close") {
      port.postMessage(await reply(message));
      return;
    }
    db.close();
    port.close();
  }

  // One after the other.
  port.on("message", (message: Call | "close") => {
    last = last.then(() => receive(message));
  });
}
