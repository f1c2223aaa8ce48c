// tank-monitor backup FILE

import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { RequestError, UserError } from "../domain/errors.ts";
import { type CliCommand, configOf, withStore } from "./command.ts";
import { ProgressBar, say } from "./output.ts";

export const backup: CliCommand = {
  name: "backup",
  summary: "copy the database while the service runs",
  usage: "FILE",
  help: `Write a consistent copy of the database to FILE, which must not exist yet and appears once it is complete.
To restore: stop the service, put FILE in the place of the database, remove the database's -wal and
-shm files, start the service. docs/operations.md has it step by step.`,
  maxArguments: 1,
  flags: {},
  async run(call) {
    const [file] = call.arguments;
    if (file === undefined) throw new UserError("backup: FILE is missing", 2);
    if (existsSync(file)) throw new UserError(`${file} already exists; backup does not overwrite files`);
    const folder = dirname(file);
    if (!existsSync(folder)) throw new UserError(`cannot write ${file}: no such folder: ${folder}`);
    const partial = `${file}.partial-${process.pid}`;
    const progress = new ProgressBar("backup");
    try {
      await withStore(configOf(call), (store) => store.backup(partial, (done, total) => progress.show(done, total)));
      renameSync(partial, file);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { cause } = error;
      throw new UserError(`cannot write ${file}: ${cause instanceof Error ? cause.message : error.message}`);
    } finally {
      progress.end();
      for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(partial + suffix, { force: true });
    }
    say(`database copied to ${file}`);
    return 0;
  },
};
