// tank-monitor restore FILE

import { UserError } from "../domain/errors.ts";
import type { Finding } from "../domain/store.ts";
import { restoreStore } from "../store/open.ts";
import { type CliCommand, configOf } from "./command.ts";
import { exitOnSignals, rejectDatabaseFile, requireReadable } from "./files.ts";
import { counted, ProgressBar, print, printMessage } from "./output.ts";

export const restore: CliCommand = {
  name: "restore",
  summary: "replace the database with a backup",
  usage: "FILE [--force]",
  help: `Replace the database with FILE, which "backup" has written. Stop the service first: a database in use is rejected. FILE is
copied and checked, as "check" does; if it has an error, nothing changes. The copy of a SQLite database needs as much free
space.

  --force   replace a database that is not empty. It is kept: a SQLite file beside it as DATABASE.before-restore-TIME,
            tables of PostgreSQL in the schema before_restore_TIME. Delete it when you no longer need it. A -wal or
            -journal file without its database is kept in the same way`,
  maxArguments: 1,
  flags: { force: { type: "boolean" } },
  async run(call) {
    const [file] = call.arguments;
    if (file === undefined) throw new UserError("restore: FILE is missing", 2);
    if (file === "-") throw new UserError("restore: stdin is not supported; name the backup file", 2);
    const { databaseUrl } = configOf(call);
    requireReadable(file);
    rejectDatabaseFile(file, databaseUrl);
    exitOnSignals();
    using progress = new ProgressBar("restoring");
    const options = {
      force: call.flags["force"] === true,
      progress: (done: number, total: number) => progress.show(done, total),
      onFinding: ({ where, what }: Finding) => {
        progress.end();
        print(`${where}: ${what}`);
      },
    };
    const { totals, kept } = await restoreStore(databaseUrl, file, options).catch((error) => {
      throw "syscall" in error ? new UserError(`nothing was restored: ${error.message}`) : error;
    });
    progress.end();
    const { customers, tanks, readings } = totals;
    const restored = `${counted(customers, "customer")}, ${counted(tanks, "tank")}, ${counted(readings, "reading")}`;
    printMessage(
      `database restored from ${file}: ${restored}${kept.length === 0 ? "" : `; the previous data is kept as ${kept.join(" and ")}`}`,
    );
    return 0;
  },
};
