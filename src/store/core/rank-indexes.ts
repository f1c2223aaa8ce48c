// The tables of rank indexes; loads and saves the parts that a write needs.

import { type Group, RankIndex } from "../packed/rank-index.ts";
import type { IndexGroup, IndexPosition, RankTable, StoreTransaction } from "./transaction.ts";

/** Columns of the tables of groups: the name of the index, the first position of a group, and the positions of its nodes. */
export const RANK_TABLES = {
  readings: { table: "reading_index", index: "tank", key: ["start"], nodes: ["starts"] },
  lists: { table: "list_index", index: "list", key: ["position", "id"], nodes: ["positions", "ids"] },
} as const;

/** Loads the indexes with the paths to these positions, keyed by name. */
export async function loadIndexes(
  tx: StoreTransaction,
  table: RankTable,
  positions: readonly IndexPosition[],
): Promise<Map<string, RankIndex>> {
  if (positions.length === 0) return new Map();
  const groups = Map.groupBy(await tx.rankGroups(table, positions), ({ index }) => index);
  const names = new Set(positions.map(({ index }) => index));
  return new Map(Array.from(names, (name) => [name, new RankIndex((groups.get(name) ?? []).map(({ group }) => group))]));
}

export async function saveIndexes(
  tx: StoreTransaction,
  table: RankTable,
  indexes: ReadonlyMap<string, RankIndex>,
): Promise<void> {
  const all = (groupsOf: (index: RankIndex) => readonly Group[]): IndexGroup[] =>
    Array.from(indexes).flatMap(([name, index]) => groupsOf(index).map((group) => ({ index: name, group })));
  const removals = all((index) => index.removals());
  const changes = all((index) => index.changes());
  await Promise.all([tx.removeRankGroups(table, removals), tx.putRankGroups(table, changes)]);
}
