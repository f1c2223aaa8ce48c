// Restores what `backup` wrote, in one transaction: what was there is moved to a schema of its own, the script is executed, and
// everything is checked before the commit.

import { createReadStream, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { from as copyFrom } from "pg-copy-streams";
import { UserError } from "../../domain/errors.ts";
import type { Restored, RestoreOptions } from "../../domain/store.ts";
import { checkAll, requireConsistent } from "../check/check.ts";
import { DELETE_SESSIONS_AND_SIGN_INS } from "../core/account-tables.ts";
import { raiseSequence } from "../core/alert-tables.ts";
import { HAS_DATA } from "../core/reads.ts";
import { BACKUP_TITLE } from "./backup.ts";
import { checkOperations } from "./check.ts";
import { type DbTransaction, openPool, statement, transaction } from "./connection.ts";
import { BACKUP_SCHEMA_SCRIPT, FINGERPRINT_SCRIPT, hasSchema, missingTableName, TABLES } from "./schema.ts";
import { findServer, serverUrls } from "./servers.ts";

/** Sessions of services and other commands. A service always has one. */
const OTHER_CONNECTIONS =
  statement(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND application_name IN ('tank-monitor', current_setting('application_name'))`);

export async function restorePostgres(databaseUrl: string, backup: string, options: RestoreOptions): Promise<Restored> {
  const { url, schema } = await findServer(serverUrls(databaseUrl));
  const pool = openPool(url, 1, { schema, isUnlimited: true, canCopy: true });
  try {
    return await transaction(pool, (db) => restore(db, backup, options));
  } catch (error) {
    if (error instanceof UserError || !(error instanceof Error)) throw error;
    throw new UserError(`nothing was restored: ${error.message}`);
  } finally {
    await pool.end();
  }
}

async function restore(db: DbTransaction, backup: string, { force, progress, onFinding }: RestoreOptions): Promise<Restored> {
  const { client } = db;
  await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
  const exists = await hasSchema(db);
  await client.query("SET LOCAL lock_timeout = '8s'");
  if (Number((await db.rows(OTHER_CONNECTIONS))[0]?.[0]) > 0) {
    throw new UserError("the database is in use. Stop the service, and other commands, first");
  }
  const isEmpty = async () =>
    (await missingTableName(db)) === undefined && (await db.rows(statement(HAS_DATA)))[0]?.[0] === false;
  if (exists && !force && !(await isEmpty())) {
    throw new UserError("the database is not empty; --force replaces it and keeps the old tables in another schema");
  }
  const kept = exists ? [await moveAside(db)] : [];
  const script = new BackupScript(backup, progress);
  await script.expect(`${BACKUP_TITLE}\n\n`, "is not a backup of a PostgreSQL database of Tank Monitor");
  await script.expect(
    BACKUP_SCHEMA_SCRIPT,
    "was created by another version of Tank Monitor. Restore it with psql, export it with that version, and import the export.",
  );
  await client.query(BACKUP_SCHEMA_SCRIPT);
  for (const table of TABLES) {
    await script.expect(`\nCOPY ${table} FROM stdin;\n`, "is damaged");
    await pipeline(script.rows(), client.query(copyFrom(`COPY ${table} FROM STDIN`)));
  }
  await script.expect(`\n${FINGERPRINT_SCRIPT}`, "is damaged");
  await client.query(FINGERPRINT_SCRIPT);
  await client.query(DELETE_SESSIONS_AND_SIGN_INS);
  const findings = checkAll((work) => work(checkOperations(db)), undefined, progress);
  const totals = await requireConsistent(findings, backup, onFinding);
  await client.query(raiseSequence(Date.now()));
  return { totals, kept };
}

const HAS_FUNCTION = statement("SELECT to_regproc('readings_of') IS NOT NULL");

/** Moves everything to a schema of its own. */
async function moveAside(db: DbTransaction): Promise<string> {
  const name = `before_restore_${new Date().toISOString().replaceAll(/\W/g, "").toLowerCase()}`;
  const views = ["fleet", "readings"].map((view) => `ALTER VIEW IF EXISTS ${view} SET SCHEMA ${name};`);
  const tables = ["tank_monitor", ...TABLES].map((table) => `ALTER TABLE IF EXISTS ${table} SET SCHEMA ${name};`);
  const hasFunction = (await db.rows(HAS_FUNCTION))[0]?.[0] === true;
  const functions = hasFunction ? [`ALTER FUNCTION readings_of SET SCHEMA ${name};`] : [];
  await db.client.query([`CREATE SCHEMA ${name};`, ...functions, ...views, ...tables].join(" "));
  return `schema ${name}`;
}

const END_OF_ROWS = "\n\\.\n";
const INCOMPLETE = "is incomplete: copy the backup again";

/** The file, read from its beginning. */
class BackupScript {
  readonly #file: string;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest = Buffer.alloc(0);

  constructor(file: string, progress: RestoreOptions["progress"]) {
    this.#file = file;
    const { size } = statSync(file);
    let done = 0;
    async function* chunks(): AsyncGenerator<Buffer> {
      for await (const chunk of createReadStream(file, { highWaterMark: 262_144 })) {
        done += (chunk as Buffer).length;
        progress(done, size);
        yield chunk as Buffer;
      }
    }
    this.#chunks = chunks();
  }

  /** Reads this text; `error` says what another text means. A file that ends in the middle of it is incomplete. */
  async expect(text: string, error: string): Promise<void> {
    const expected = Buffer.from(text);
    while (this.#rest.length < expected.length && (await this.#read()));
    const found = this.#rest.subarray(0, expected.length);
    if (!expected.subarray(0, found.length).equals(found)) throw new UserError(`${this.#file} ${error}`);
    if (found.length < expected.length) throw new UserError(`${this.#file} ${INCOMPLETE}`);
    this.#rest = this.#rest.subarray(expected.length);
  }

  /** The rows of a table, up to the line that ends them. */
  async *rows(): AsyncGenerator<Buffer> {
    // The end may be the first line.
    this.#rest = Buffer.concat([Buffer.from("\n"), this.#rest]);
    let start = 1;
    for (;;) {
      const end = this.#rest.indexOf(END_OF_ROWS);
      const complete = end === -1 ? this.#rest.length - END_OF_ROWS.length + 1 : end + 1;
      if (complete > start) {
        yield this.#rest.subarray(start, complete);
        this.#rest = this.#rest.subarray(complete);
        start = 0;
      }
      if (end !== -1) {
        this.#rest = this.#rest.subarray(this.#rest.indexOf("\\.\n") + 3);
        return;
      }
      if (!(await this.#read())) throw new UserError(`${this.#file} ${INCOMPLETE}`);
    }
  }

  async #read(): Promise<boolean> {
    const { value, done } = await this.#chunks.next();
    if (done === true) return false;
    this.#rest = Buffer.concat([this.#rest, value]);
    return true;
  }
}
