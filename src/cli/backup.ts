// tank-monitor backup FILE

import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { RequestError, UserError } from "../domain/errors.ts";
import { type Command, configOf, say, withStore } from "./command.ts";
import { Progress } from "./progress.ts";

export const backup: Command = {
  name: "backup",
  summary: "copy the database while the service runs",
  usage: "FILE",
  help: `Writes a whole copy of the database, of one moment, to FILE, which must not exist yet and appears when it is
whole. To restore: stop the service, put FILE in the place of the database, remove the database's -wal and
-shm files, start the service. docs/operations.md has it step by step.`,
  most: 1,
  flags: {},
  async run(call) {
    const [file] = call.arguments;
    if (file === undefined) throw new UserError("backup: name a file to write to", 2);
    if (existsSync(file)) throw new UserError(`${file} is there already; a backup overwrites nothing`);
    const folder = dirname(file);
    if (!existsSync(folder)) throw new UserError(`${file} cannot be written: there is no folder ${folder}`);
    const partial = `${file}.partial-${process.pid}`;
    const progress = new Progress("backup");
    try {
      await withStore(configOf(call), (store) => store.backup(partial, (done, total) => progress.show(done, total, "")));
      renameSync(partial, file);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { cause } = error;
      throw new UserError(`${file} could not be written: ${cause instanceof Error ? cause.message : error.message}`);
    } finally {
      progress.end();
      for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(partial + end, { force: true });
    }
    say(`the database is copied to ${file}`);
    return 0;
  },
};
