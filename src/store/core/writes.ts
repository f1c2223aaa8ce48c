// All writes by name, except for readings, which engines combine. SQLite runs them in its writer thread, PostgreSQL in a
// transaction of its own.

import { REPAIRS, type RepairTransaction } from "../check/check.ts";
import { executeCommand } from "./commands.ts";
import { importCustomers, importDevices, importTanks } from "./imports.ts";

const WRITES = {
  importCustomers,
  importTanks,
  importDevices,
  execute: executeCommand,
  updateLastSeen: (tx: RepairTransaction, seen: ReadonlyMap<string, number>) => tx.updateLastSeen(seen),
  ...REPAIRS,
};

type WriteTable = typeof WRITES;
export type WriteName = keyof WriteTable;
export type WriteArgs<N extends WriteName> = Parameters<WriteTable[N]> extends [unknown, ...infer A] ? A : never;
export type WriteResult<N extends WriteName> = Awaited<ReturnType<WriteTable[N]>>;

/** Calls a write that is only known by its name. */
export function runWrite<N extends WriteName>(tx: RepairTransaction, name: N, args: WriteArgs<N>): Promise<WriteResult<N>> {
  const write = WRITES[name] as unknown as (tx: RepairTransaction, ...args: WriteArgs<N>) => Promise<WriteResult<N>>;
  return write(tx, ...args);
}
