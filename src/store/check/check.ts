// Checks everything, for both engines: a little at a time, each part in a short snapshot. Repairs are writes, and check again
// first.

import { setImmediate } from "node:timers/promises";
import { deviceKey } from "../../domain/id.ts";
import type { CheckTotals, Finding, Progress } from "../../domain/store.ts";
import { rebuildListIndex } from "../core/lists.ts";
import type { StoreTransaction } from "../core/transaction.ts";
import { LIST_START, type ListKind, listOf } from "../series/lists.ts";
import { reorderReadings, splitHead } from "../series/merge.ts";
import { EARLIEST, RankIndex, type Segment } from "../series/rank-index.ts";
import { type CheckResult, findingsOf, repairable, unrepairable } from "./inconsistency.ts";
import { type CheckedTank, checkAudit, checkCustomer, checkDevices, checkKeys, checkTanks, isLive, latestOf } from "./objects.ts";
import type { RepairOperations } from "./operations.ts";
import { checkListIndex, segmentStarts } from "./rank-index.ts";

/** Runs reads in one snapshot. */
export type Snapshot = <T>(work: (reads: RepairOperations) => Promise<T>) => Promise<T>;
/** Runs a repair in one transaction. */
export type Repair = <N extends RepairName>(name: N, ...args: RepairArgs<N>) => Promise<Finding[]>;

/** Without `repair` nothing is changed. */
export async function* checkAll(
  snapshot: Snapshot,
  repair: Repair | undefined,
  progress: Progress,
): AsyncGenerator<Finding, CheckTotals, void> {
  const totals = { customers: 0, tanks: 0, readings: 0 };
  const database = await snapshot(checkDatabase);
  // In a damaged database other results mean nothing, and nothing should be written to it.
  const isDamaged = database.found.some(({ isRepairable }) => !isRepairable);
  yield* await report([database], isDamaged ? undefined : repair && (() => repair("repairDatabase")));
  if (isDamaged) return totals;
  yield* await report(await snapshot(checkReferences), repair && (() => repair("repairReferences")));

  const total = await snapshot((reads) => reads.objectCount());
  for (let after = ""; ; ) {
    const customers = await snapshot((reads) => reads.customersAfter(after));
    if (customers.length === 0) break;
    for (const row of customers) {
      after = row.customer.id;
      totals.customers++;
      const id = after;
      yield* await report([checkCustomer(row)], repair && (() => repair("repairCustomer", id)));
    }
    progress(totals.customers, total);
    await setImmediate();
  }
  for (let after = ""; ; ) {
    const tanks = await snapshot((reads) => checkSomeTanks(reads, after));
    if (tanks.length === 0) break;
    for (const result of tanks) {
      after = result.row.tank.id;
      totals.tanks++;
      totals.readings += result.readings.total;
      const id = after;
      yield* await report([result], repair && (() => repair("repairTank", id)));
    }
    progress(totals.customers + totals.tanks, total);
    await setImmediate();
  }
  yield* await report(await snapshot(checkDevices), repair && (() => repair("repairDevices")));
  yield* await report(await snapshot(checkKeys), undefined);
  yield* await report([await snapshot(checkAudit)], undefined);
  for (const series of await snapshot((reads) => reads.indexedLists())) {
    yield* await report([await snapshot((reads) => checkList(reads, series))], repair && (() => repair("repairList", series)));
    await setImmediate();
  }
  return totals;
}

async function report(results: readonly CheckResult[], repair: (() => Promise<Finding[]>) | undefined): Promise<Finding[]> {
  const isRepairable = results.some(({ found }) => found.some((inconsistency) => inconsistency.isRepairable));
  if (isRepairable && repair !== undefined) return repair();
  return results.flatMap((result) => findingsOf(result));
}

async function checkDatabase(reads: RepairOperations): Promise<CheckResult> {
  return { where: "the database", found: await reads.databaseErrors() };
}

async function checkReferences(reads: RepairOperations): Promise<CheckResult[]> {
  return (await reads.danglingRows()).map(({ table, isDerived, tanks, first }) => {
    const message = `rows of ${tanks} tanks belong to no tank (${first})`;
    const hint = "restore a backup, or export what can be read into a new database";
    return { where: `table ${table}`, found: isDerived ? repairable(message) : unrepairable(`${message}: ${hint}`) };
  });
}

/** A snapshot checks tanks with at most this many readings in all, or one tank. */
const MAX_READINGS = 1_000_000;

async function checkSomeTanks(reads: RepairOperations, after: string): Promise<CheckedTank[]> {
  let readings = 0;
  const rows = (await reads.tanksAfter(after)).filter(({ head }, i) => {
    readings += head?.total ?? 0;
    return i === 0 || readings <= MAX_READINGS;
  });
  return checkTanks(reads, rows);
}

async function checkList(reads: RepairOperations, series: string): Promise<CheckResult> {
  const groups = (await reads.storedGroups("lists", [series])).get(series) ?? [];
  const list = listOf(series);
  if (list === undefined) {
    return {
      where: `list "${series}"`,
      found: groups.length === 0 ? [] : repairable("there is no such list, but it has a rank index"),
    };
  }
  const { kind, key } = list;
  const counts = await reads.segmentCounts(kind, key, groups.length === 0 ? [LIST_START] : segmentStarts(groups));
  return { where: nameOf(kind, key), found: checkListIndex(groups, counts) };
}

function nameOf({ table, column }: ListKind, key: string | null): string {
  if (column === null) return `list of all ${table}s`;
  return column === "email" ? `list of customers with the e-mail ${key}` : `list of the tanks of customer ${key}`;
}

export type RepairTransaction = StoreTransaction & { readonly repairs: () => RepairOperations };

/** Repairs by name. Each checks again, repairs, and reports what it found and whether it is repaired. */
export const REPAIRS = {
  async repairDatabase(tx: RepairTransaction): Promise<Finding[]> {
    const operations = tx.repairs();
    const check = async () => [await checkDatabase(operations)];
    return repairAndCheck(check, async ([before]) => {
      if (before?.found.every(({ isRepairable }) => isRepairable)) await operations.rebuildDatabaseIndexes();
    });
  },

  async repairReferences(tx: RepairTransaction): Promise<Finding[]> {
    const operations = tx.repairs();
    return repairAndCheck(
      () => checkReferences(operations),
      () => operations.removeDanglingRows(),
    );
  },

  async repairCustomer(tx: RepairTransaction, id: string): Promise<Finding[]> {
    await tx.lockLists();
    const operations = tx.repairs();
    const check = async () => [await operations.customer(id)].flatMap((row) => (row === undefined ? [] : [checkCustomer(row)]));
    return repairAndCheck(check, () => operations.recountTanks(id));
  },

  async repairTank(tx: RepairTransaction, id: string): Promise<Finding[]> {
    await tx.lockLists();
    await tx.lockDevices("exclusive");
    await tx.lockHeads([id], true);
    const operations = tx.repairs();
    const check = async () => {
      const row = await operations.tank(id);
      return row === undefined ? [] : checkTanks(operations, [row]);
    };
    return repairAndCheck(check, async ([before]) => {
      if (before !== undefined) await rebuildTank(tx, operations, before);
    });
  },

  async repairDevices(tx: RepairTransaction): Promise<Finding[]> {
    await tx.lockLists();
    await tx.lockDevices("exclusive");
    const operations = tx.repairs();
    return repairAndCheck(
      () => checkDevices(operations),
      () => operations.repairDevices(),
    );
  },

  async repairList(tx: RepairTransaction, series: string): Promise<Finding[]> {
    await tx.lockLists();
    const operations = tx.repairs();
    return repairAndCheck(
      async () => [await checkList(operations, series)],
      async () => {
        const list = listOf(series);
        if (list === undefined) await tx.removeRankIndex("lists", series);
        else await rebuildListIndex(tx, list.kind, list.key);
      },
    );
  },
};

type RepairTable = typeof REPAIRS;
export type RepairName = keyof RepairTable;
export type RepairArgs<N extends RepairName> = Parameters<RepairTable[N]> extends [unknown, ...infer A] ? A : never;

async function repairAndCheck<R extends CheckResult>(
  check: () => Promise<R[]>,
  repair: (before: readonly R[]) => Promise<void>,
): Promise<Finding[]> {
  const before = await check();
  if (!before.some(({ found }) => found.some(({ isRepairable }) => isRepairable)))
    return before.flatMap((result) => findingsOf(result));
  await repair(before);
  const after = Map.groupBy(await check(), ({ where }) => where);
  return before.flatMap((result) =>
    findingsOf(
      result,
      (after.get(result.where) ?? []).flatMap(({ found }) => found),
    ),
  );
}

/** The head is locked. */
async function rebuildTank(tx: StoreTransaction, operations: RepairOperations, { row, readings }: CheckedTank): Promise<void> {
  const { tank, head } = row;
  if (readings.segments !== undefined) {
    if (head === undefined || readings.isMisplaced) await rebuildReadings(tx, operations, row);
    else {
      const inBlocks = readings.segments.reduce((sum, { count }) => sum + count, 0);
      await tx.writeHeads(new Map([[tank.id, { ...head, total: readings.total, inBlocks }]]));
      await rebuildReadingIndex(tx, tank.id, readings.segments);
    }
  }
  if (latestOf(head) !== "unreadable") {
    await tx.setThresholds(new Map([[tank.id, isLive(row) ? tank.min_fill_alert_percentage : null]]));
  }
  if (isLive(row)) await operations.assignDevice(deviceKey(tank.assigned_device_id), tank.id);
}

async function rebuildReadings(
  tx: StoreTransaction,
  operations: RepairOperations,
  { tank, head }: CheckedTank["row"],
): Promise<void> {
  const rows = (await operations.blocksOf(tank.id, tank.id)).get(tank.id) ?? [];
  const columns = reorderReadings([...rows, ...(head === undefined ? [] : [head])].map(({ data }) => data));
  const { blocks, head: rebuilt } = splitHead(columns, EARLIEST);
  const total = columns.instants.length;
  await operations.removeBlocks(tank.id);
  await tx.writeBlocks(blocks.map((block) => ({ tankId: tank.id, ...block })));
  await operations.ensureHead(tank.id);
  const { start, data, count } = rebuilt;
  await tx.writeHeads(new Map([[tank.id, { total, start, data, inBlocks: total - count }]]));
  await rebuildReadingIndex(
    tx,
    tank.id,
    blocks.map((block) => ({ at: [block.start], count: block.count })),
  );
}

async function rebuildReadingIndex(tx: StoreTransaction, tankId: string, segments: readonly Segment[]): Promise<void> {
  await tx.removeRankIndex("readings", tankId);
  await tx.putRankGroups(
    "readings",
    RankIndex.build(segments).map((group) => ({ series: tankId, group })),
  );
}
