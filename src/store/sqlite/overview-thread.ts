// The thread for what an operator asks: lists that may have to go through very many rows, while the serving thread goes on.

import { parentPort, workerData } from "node:worker_threads";
import { auditQuestions } from "./audit.ts";
import { openReader, patiently } from "./connection.ts";
import { deviceQuestions } from "./devices.ts";
import { fleetQuestions } from "./fleet-page.ts";
import { searchQuestions } from "./search.ts";
import { tankQuestions } from "./tanks.ts";
import { type Call, failed, type Reply } from "./thread.ts";

export type OverviewTable = ReturnType<typeof overviewTable>;

function overviewTable(db: ReturnType<typeof openReader>) {
  const { customerSearch, tankSearch } = searchQuestions(db);
  const { deviceSearch } = deviceQuestions(db);
  const { fleetPage } = fleetQuestions(db, tankQuestions(db).liveTank);
  const { auditPage } = auditQuestions(db);
  return { customerSearch, tankSearch, deviceSearch, fleetPage, auditPage };
}

if (parentPort !== null) {
  const port = parentPort;
  const db = patiently(() => openReader((workerData as { file: string }).file));
  const table = patiently(() => overviewTable(db));

  /** Of one snapshot. */
  function answer({ id, name, args }: Call): Reply {
    try {
      db.exec("BEGIN");
      const question = table[name as keyof OverviewTable] as (...args: readonly unknown[]) => unknown;
      return { id, value: question(...args) };
    } catch (error) {
      return failed(id, error);
    } finally {
      // After some errors SQLite has ended the read by itself.
      if (db.isTransaction) db.exec("COMMIT");
    }
  }

  port.on("message", (message: Call | "close") => {
    if (message !== "close") {
      port.postMessage(answer(message));
      return;
    }
    db.close();
    port.close();
  });
}
