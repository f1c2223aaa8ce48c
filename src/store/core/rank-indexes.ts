// The tables of rank indexes; loads and saves the parts that a write needs.

import { type Group, RankIndex } from "../series/rank-index.ts";
import type { RankTable, SeriesGroup, SeriesPosition, StoreTransaction } from "./transaction.ts";

/** Columns of the tables of groups: the first position of a group, and the positions of its nodes. */
export const RANK_TABLES = {
  readings: { table: "reading_index", series: "tank", key: ["start"], nodes: ["starts"] },
  lists: { table: "list_index", series: "series", key: ["position", "id"], nodes: ["positions", "ids"] },
} as const;

/** Loads the indexes with the paths to these positions, keyed by series. */
export async function loadIndexes(
  tx: StoreTransaction,
  table: RankTable,
  positions: readonly SeriesPosition[],
): Promise<Map<string, RankIndex>> {
  if (positions.length === 0) return new Map();
  const groups = Map.groupBy(await tx.rankGroups(table, positions), ({ series }) => series);
  const series = new Set(positions.map((position) => position.series));
  return new Map(Array.from(series, (name) => [name, new RankIndex((groups.get(name) ?? []).map(({ group }) => group))]));
}

export async function saveIndexes(
  tx: StoreTransaction,
  table: RankTable,
  indexes: ReadonlyMap<string, RankIndex>,
): Promise<void> {
  const all = (groupsOf: (index: RankIndex) => readonly Group[]): SeriesGroup[] =>
    Array.from(indexes).flatMap(([series, index]) => groupsOf(index).map((group) => ({ series, group })));
  const removals = all((index) => index.removals());
  const changes = all((index) => index.changes());
  await Promise.all([tx.removeRankGroups(table, removals), tx.putRankGroups(table, changes)]);
}
