// A copy of a running server's data that can follow it as a streaming replica: what pg_basebackup does, which npm's
// PostgreSQL lacks.

import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";

type Original = { readonly url: string; readonly data: string /** of the replica, and of its slot */; readonly name: string };

/** Folders whose content belongs to the running server alone, and the log, which the replica streams. */
const EMPTY = ["pg_dynshmem", "pg_notify", "pg_replslot", "pg_serial", "pg_snapshots", "pg_stat_tmp", "pg_subtrans", "pg_wal"];
const LEFT_OUT = ["postmaster.pid", "postmaster.opts"];

export async function copyOfRunning({ url, data, name }: Original, copy: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // The slot keeps the log from here on for the replica, also while the replica is away.
    await client.query("SELECT pg_create_physical_replication_slot($1, true)", [name]);
    await client.query("SELECT pg_backup_start($1, true)", [name]);
    copyFolder(data, copy, "");
    const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
    writeFileSync(join(copy, "backup_label"), rows[0]?.labelfile ?? "", { mode: 0o600 });
  } finally {
    await client.end();
  }
  const { hostname, port, username, password } = new URL(url);
  const connection = `host=${hostname} port=${port} user=${username} password=${password} application_name=${name}`;
  appendFileSync(join(copy, "postgresql.auto.conf"), `primary_conninfo = '${connection}'\nprimary_slot_name = '${name}'\n`);
  writeFileSync(join(copy, "standby.signal"), "", { mode: 0o600 });
}

function copyFolder(from: string, to: string, path: string): void {
  mkdirSync(join(to, path), { mode: 0o700 });
  if (EMPTY.includes(path)) return;
  for (const entry of readdirSync(join(from, path), { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) copyFolder(from, to, inner);
    else if (entry.isFile() && !LEFT_OUT.includes(inner)) copyPresent(join(from, inner), join(to, inner));
  }
}

/** A file can go while the folder is read; replaying the log does without it, too. */
function copyPresent(from: string, to: string): void {
  try {
    // Not copyFile, after which ext4 writes each file to the disk at once: removing them would wait for that.
    writeFileSync(to, readFileSync(from), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
