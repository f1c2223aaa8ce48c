// Checks everything, for both engines: a little at a time, each part in a short snapshot. Repairs are writes, and check again
// first.

import { setImmediate } from "node:timers/promises";
import { UserError } from "../../domain/errors.ts";
import { deviceKey } from "../../domain/id.ts";
import { EARLIEST } from "../../domain/instant.ts";
import type { CheckTotals, Finding, Progress } from "../../domain/store.ts";
import { resetSortKeys } from "../core/fleet-order.ts";
import { rebuildListIndex } from "../core/lists.ts";
import type { StoreTransaction } from "../core/transaction.ts";
import { Block } from "../packed/block.ts";
import { LIST_START, type ListKind, listNamed } from "../packed/lists.ts";
import { reorderReadings, splitHead } from "../packed/merge.ts";
import { RankIndex, type Segment } from "../packed/rank-index.ts";
import { checkAccounts } from "./accounts.ts";
import { checkAlert, repairAlerts } from "./alerts.ts";
import { type CheckedRow, type CheckResult, findingsOf, repairable, unrepairable } from "./inconsistency.ts";
import { checkIndexes } from "./indexes.ts";
import {
  checkChannels,
  checkDrafts,
  checkEvents,
  checkNotifications,
  checkNotificationsAfter,
  linksIn,
} from "./notifications.ts";
import {
  type CheckedTank,
  checkAudit,
  checkCustomer,
  checkDevices,
  checkKeys,
  checkTanks,
  isHeadDamaged,
  isLive,
  repairDevices,
  sortKeyErrors,
} from "./objects.ts";
import type { CheckOperations } from "./operations.ts";
import { checkListIndex, indexedSegments } from "./rank-index.ts";
import { checkServiceState, repairServiceState } from "./service-state.ts";

/** Runs reads in one snapshot. */
type RunInSnapshot = <T>(work: (reads: CheckOperations) => Promise<T>) => Promise<T>;
/** Runs a repair in one transaction. */
export type Repair = (name: RepairName, id?: string) => Promise<Finding[]>;

/** Without `repair` nothing is changed. */
export async function* checkAll(
  snapshot: RunInSnapshot,
  repair: Repair | undefined,
  progress: Progress,
): AsyncGenerator<Finding, CheckTotals, void> {
  const totals = { customers: 0, tanks: 0, readings: 0 };
  const database = await snapshot(checkDatabase);
  // In a damaged database other results mean nothing, and nothing should be written to it.
  yield* await report(database, hasUnrepairable(database) ? undefined : repair && (() => repair("repairDatabase")));
  if (hasUnrepairable(database)) return totals;
  const indexes = await snapshot((reads) => reads.missingIndexes());
  for (const name of indexes) {
    const missing = await snapshot((reads) => checkIndexes(reads, name));
    yield* await report(missing, repair && (() => repair("repairIndex", name)));
  }
  yield* await report(await snapshot(checkReferences), repair && (() => repair("repairReferences")));

  // Before the tanks: repairs of their alerts write events and notifications.
  yield* await report(await snapshot(checkServiceState), repair && (() => repair("repairServiceState")));
  yield* await report(await snapshot(checkChannels), undefined);

  const total = await snapshot((reads) => reads.objectCount());
  const repairCustomer = repair && ((id: string) => repair("repairCustomer", id));
  yield* checkRows(snapshot, "", checkSomeCustomers, repairCustomer, (customers) => {
    totals.customers += customers.length;
    progress(totals.customers, total);
  });
  const repairTank = repair && ((id: string) => repair("repairTank", id));
  yield* checkRows(snapshot, "", checkSomeTanks, repairTank, (tanks) => {
    totals.tanks += tanks.length;
    totals.readings += tanks.reduce((sum, { readings }) => sum + readings.total, 0);
    progress(totals.customers + totals.tanks, total);
  });
  yield* checkRows(snapshot, "", async (reads, after) => (await reads.alertsAfter(after)).map(checkAlert));
  yield* checkRows(snapshot, Number.MIN_SAFE_INTEGER, checkEvents);
  yield* checkRows(snapshot, "", checkNotificationsAfter, repair && ((id) => repair("repairNotification", id)));
  yield* checkRows(snapshot, "", checkDrafts);
  yield* await report(await snapshot(checkDevices), repair && (() => repair("repairDevices")));
  yield* await report(await snapshot(checkKeys), undefined);
  yield* await report(await snapshot(checkAccounts), repair && (() => repair("repairAccounts")));
  yield* await report([await snapshot(checkAudit)], undefined);
  for (const name of await snapshot((reads) => reads.indexedLists())) {
    yield* await report(await snapshot((reads) => checkList(reads, name)), repair && (() => repair("repairList", name)));
    await setImmediate();
  }
  return totals;
}

/** Throws if a backup has errors. */
export async function requireConsistent(
  findings: AsyncGenerator<Finding, CheckTotals, void>,
  backup: string,
  onFinding: (finding: Finding) => void,
): Promise<CheckTotals> {
  for (let count = 0; ; count++) {
    const step = await findings.next();
    if (step.done !== true) onFinding(step.value);
    else if (count === 0) return step.value;
    else throw new UserError(`${backup} has errors; nothing was restored`);
  }
}

const hasRepairable = (results: readonly CheckResult[]): boolean =>
  results.some(({ found }) => found.some(({ isRepairable }) => isRepairable));
const hasUnrepairable = (results: readonly CheckResult[]): boolean =>
  results.some(({ found }) => found.some(({ isRepairable }) => !isRepairable));

async function report(results: readonly CheckResult[], repair: (() => Promise<Finding[]>) | undefined): Promise<Finding[]> {
  if (repair !== undefined && hasRepairable(results)) return repair();
  return results.flatMap((result) => findingsOf(result));
}

/** All rows of a table, some in each snapshot. `checkAfter` returns the next ones, none at the end; `onChecked` gets them. */
async function* checkRows<K, T>(
  snapshot: RunInSnapshot,
  start: K,
  checkAfter: (reads: CheckOperations, after: K) => Promise<readonly (CheckedRow<K> & T)[]>,
  repair?: (key: K) => Promise<Finding[]>,
  onChecked?: (rows: readonly T[]) => void,
): AsyncGenerator<Finding> {
  for (let after = start; ; ) {
    const rows = await snapshot((reads) => checkAfter(reads, after));
    // In a damaged table a number may be too large to go on from.
    if (rows.length === 0 || rows.at(-1)?.key === after) return;
    for (const row of rows) {
      after = row.key;
      yield* await report([row], repair && (() => repair(row.key)));
    }
    onChecked?.(rows);
    await setImmediate();
  }
}

async function checkDatabase(reads: CheckOperations): Promise<CheckResult[]> {
  return [{ where: "the database", found: await reads.databaseErrors() }];
}

async function checkReferences(reads: CheckOperations): Promise<CheckResult[]> {
  return (await reads.danglingRows()).map(({ table, isDerived, tanks, first }) => {
    const message = `rows refer to ${tanks} missing ${tanks === 1 ? "tank" : "tanks"} (first: ${first})`;
    const hint = "restore a backup, or export what can be read into a new database";
    return { where: `table ${table}`, found: isDerived ? repairable(message) : unrepairable(`${message}: ${hint}`) };
  });
}

async function checkSomeCustomers(reads: CheckOperations, after: string): Promise<CheckedRow<string>[]> {
  return (await reads.customersAfter(after)).map((row) => ({ ...checkCustomer(row), key: row.customer.id }));
}

/** A snapshot checks tanks with at most this many readings in all, or one tank. */
const MAX_READINGS = 1_000_000;

async function checkSomeTanks(reads: CheckOperations, after: string): Promise<(CheckedRow<string> & CheckedTank)[]> {
  const rows = await reads.tanksAfter(after);
  let readings = 0;
  const end = rows.findIndex(({ head }, i) => {
    readings += Math.max(0, head?.total ?? 0);
    return i > 0 && readings > MAX_READINGS;
  });
  return (await checkTanks(reads, end === -1 ? rows : rows.slice(0, end))).map((tank) => ({ ...tank, key: tank.row.tank.id }));
}

async function checkList(reads: CheckOperations, name: string): Promise<CheckResult[]> {
  const groups = (await reads.storedGroups("lists", [name])).get(name) ?? [];
  const list = listNamed(name);
  if (list === undefined) {
    const found = groups.length === 0 ? [] : repairable("there is no such list, but it has a rank index");
    return [{ where: `list "${name}"`, found }];
  }
  const { kind, key } = list;
  const counts = await reads.segmentCounts(kind, key, groups.length === 0 ? [LIST_START] : indexedSegments(groups));
  return [{ where: nameOf(kind, key), found: checkListIndex(groups, counts) }];
}

function nameOf({ table, column, position }: ListKind, key: string | null): string {
  if (table === "forecast") {
    return `order of ${column === null ? "the fleet" : `the tanks of customer ${key}`} by ${position === "at" ? "silence" : position}`;
  }
  if (column === null) return `list of all ${table}s`;
  if (column === "state") return `list of ${key} alerts`;
  return column === "email" ? `list of customers with the e-mail ${key}` : `list of the tanks of customer ${key}`;
}

export type EngineTransaction = StoreTransaction & { readonly checkOperations: () => CheckOperations };

type Lock = (tx: StoreTransaction, id: string) => Promise<unknown>;
const lockNothing: Lock = async () => {};
const lockLists: Lock = (tx) => tx.lockLists();
const lockAlerts: Lock = (tx) => tx.lockAlerts();
/** Lists of alerts change under the lock of alerts. */
const lockAllLists: Lock = (tx) => tx.lockLists().then(() => tx.lockAlerts());
const lockDevices: Lock = (tx) => tx.lockLists().then(() => tx.lockDevices("exclusive"));
const lockTank: Lock = (tx, id) => lockDevices(tx, id).then(() => tx.lockHeads([id]));

/** Checks again, repairs, and reports what it found and whether it is repaired. */
function repairOf<R extends CheckResult>(
  lock: Lock,
  check: (reads: CheckOperations, id: string) => Promise<R[]>,
  repair: (operations: CheckOperations, id: string, tx: StoreTransaction, before: readonly R[]) => Promise<void>,
) {
  return async (tx: EngineTransaction, id = ""): Promise<Finding[]> => {
    await lock(tx, id);
    const operations = tx.checkOperations();
    const before = await check(operations, id);
    if (!hasRepairable(before)) return before.flatMap((result) => findingsOf(result));
    await repair(operations, id, tx, before);
    const after = Map.groupBy(await check(operations, id), ({ where }) => where);
    const remaining = (where: string) => (after.get(where) ?? []).flatMap(({ found }) => found);
    return before.flatMap((result) => findingsOf(result, remaining(result.where)));
  };
}

/** Repairs by name. */
export const REPAIRS = {
  repairDatabase: repairOf(lockNothing, checkDatabase, async (operations, _id, _tx, before) => {
    if (!hasUnrepairable(before)) await operations.rebuildDatabaseIndexes();
  }),
  // One a transaction, so that it waits for one table only.
  repairIndex: repairOf(lockNothing, checkIndexes, (operations, name) => operations.createIndex(name)),
  repairReferences: repairOf(lockNothing, checkReferences, (operations) => operations.removeDanglingRows()),
  repairCustomer: repairOf(
    lockLists,
    async (reads, id) => (await reads.customer(id)).map(checkCustomer),
    (operations, id) => operations.recountTanks(id),
  ),
  repairTank: repairOf(
    lockTank,
    async (reads, id) => checkTanks(reads, await reads.tank(id)),
    async (operations, _id, tx, before) => {
      for (const tank of before) await rebuildTank(tx, operations, tank);
    },
  ),
  repairDevices: repairOf(lockDevices, checkDevices, (operations, _id, tx) => repairDevices(operations, tx)),
  repairAccounts: repairOf(lockLists, checkAccounts, async (operations, _id, tx) => {
    await tx.endSessions(await operations.lostSessions());
  }),
  repairServiceState: repairOf(lockAlerts, checkServiceState, (operations) => repairServiceState(operations)),
  repairNotification: repairOf(
    lockAlerts,
    async (reads, id) => checkNotifications(reads, await reads.notification(id)),
    async (operations, id) => {
      for (const link of linksIn(await operations.notification(id))) await operations.addLink(link);
    },
  ),
  repairList: repairOf(lockAllLists, checkList, async (_operations, name, tx) => {
    const list = listNamed(name);
    if (list === undefined) await tx.removeRankIndex("lists", name);
    else await rebuildListIndex(tx, list.kind, list.key);
  }),
};

export type RepairName = keyof typeof REPAIRS;

/** The head is locked. */
async function rebuildTank(tx: StoreTransaction, operations: CheckOperations, { row, readings }: CheckedTank): Promise<void> {
  const { tank, head } = row;
  if (readings.segments !== undefined) {
    if (head === undefined || readings.isMisplaced) await rebuildReadings(tx, operations, row);
    else {
      const inBlocks = readings.segments.reduce((sum, { count }) => sum + count, 0);
      await tx.writeHeads(new Map([[tank.id, { ...head, total: readings.total, inBlocks }]]));
      await rebuildReadingIndex(tx, tank.id, readings.segments);
    }
  }
  if (row.isDamaged) return;
  if (!isHeadDamaged(row, readings)) {
    await tx.setThresholds(new Map([[tank.id, isLive(row) ? tank.min_fill_alert_percentage : null]]));
  }
  if (sortKeyErrors(row).length > 0) await resetSortKeys(tx, [tank.id]);
  if (isLive(row)) await operations.assignDevice(deviceKey(tank.assigned_device_id), tank.id);
  if (!isHeadDamaged(row, readings)) await repairAlerts(tx, row);
}

async function rebuildReadings(
  tx: StoreTransaction,
  operations: CheckOperations,
  { tank, head }: CheckedTank["row"],
): Promise<void> {
  const rows = (await operations.blocksOf(tank.id, tank.id)).get(tank.id) ?? [];
  const columns = reorderReadings([...rows, ...(head === undefined ? [] : [head])].map(({ data }) => new Block(data)));
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
    RankIndex.build(segments).map((group) => ({ index: tankId, group })),
  );
}
