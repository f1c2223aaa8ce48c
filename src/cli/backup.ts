// tank-monitor backup FILE

import { existsSync } from "node:fs";
import { RequestError, UserError } from "../domain/errors.ts";
import { type CliCommand, configOf, withStore } from "./command.ts";
import { cannotWrite, rejectDatabaseFile, writeAtomically } from "./files.ts";
import { ProgressBar, printMessage } from "./output.ts";

export const backup: CliCommand = {
  name: "backup",
  summary: "copy the database while the service runs",
  usage: "FILE",
  help: `Write a consistent copy of the database to FILE, which must not exist yet and appears once it is complete.
"restore FILE" replaces the database with it.`,
  maxArguments: 1,
  flags: {},
  async run(call) {
    const [file] = call.arguments;
    if (file === undefined) throw new UserError("backup: FILE is missing", 2);
    if (file === "-") throw new UserError("backup: stdout is not supported; name a file", 2);
    const config = configOf(call);
    rejectDatabaseFile(file, config.databaseUrl);
    if (existsSync(file)) throw new UserError(`${file} already exists; backup does not overwrite files`);
    const progress = new ProgressBar("backup");
    try {
      await withStore(config, (store) =>
        writeAtomically(file, (partial) => store.backup(partial, (done, total) => progress.show(done, total))),
      );
    } catch (error) {
      if (!(error instanceof RequestError && error.cause instanceof Error)) throw cannotWrite(file, error);
      // Not a bug: SQLite itself reports that the disk is full, or that a page is damaged.
      throw "syscall" in error.cause
        ? cannotWrite(file, error.cause)
        : new UserError(`cannot write ${file}: ${error.cause.message}`);
    } finally {
      progress.end();
    }
    printMessage(`database copied to ${file}`);
    return 0;
  },
};
