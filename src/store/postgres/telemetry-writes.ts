// Writes of readings: heads with the latest reading of each tank, and blocks.

import { chunksOf } from "../../domain/chunks.ts";
import { EARLIEST } from "../../domain/instant.ts";
import type { ReadingSource } from "../../domain/reading.ts";
import type { Row } from "../columns.ts";
import type { AppendResult, BlockKey, StoredEvaluation } from "../core/transaction.ts";
import { changesNoAlert } from "../fleet-row.ts";
import { Block, lastReading } from "../packed/block.ts";
import { type BlockRow, blockChecksum, type HeadRow, headChecksum } from "../packed/checksum.ts";
import {
  type Append,
  appendSize,
  type BatchColumns,
  HEAD_HARD_MAX,
  HEAD_MAX,
  type HeadUpdate,
  type StoredBlock,
  writeAppend,
} from "../packed/merge.ts";
import { bigints, byteas, doubles, texts, writtenByteas } from "./arrays.ts";
import { equalsByIndex } from "./batch.ts";
import { type Db, isLockNotAvailable, type Statement, statement } from "./connection.ts";

const NEW_READINGS = `unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::double precision[], $6::bytea[],
  $7::bigint[]) WITH ORDINALITY AS new (id, count, first, last, fill, data, checksum, number)`;
const WITH_TANK: Readonly<Record<ReadingSource["kind"], string>> = {
  tank: `SELECT new.*, id AS tank FROM ${NEW_READINGS}`,
  device: `SELECT new.*, current.tank FROM ${NEW_READINGS}
    CROSS JOIN LATERAL (SELECT tank FROM device WHERE id = new.id AND since <= new.first AND pending = 0 OFFSET 0) AS current`,
};

/**
 * In the order of the tanks, which is the order in which heads are locked. The first byte of a head is its layout. A deleted tank, which has no
 * threshold here, is left out, and so are damaged tanks.
 */
const appendStatement = (by: ReadingSource["kind"]): Statement =>
  statement(`
  WITH appended AS (
    UPDATE head SET total = total + new.count, data = head.data || substring(new.data FROM 2),
      checksum = head.checksum + new.checksum, at = new.last, fill = new.fill
    FROM (${WITH_TANK[by]} ORDER BY tank OFFSET 0) AS new
    WHERE ${equalsByIndex("head.tank", "new.tank")} AND at < new.first AND total - in_blocks + new.count <= ${HEAD_HARD_MAX}
      AND substring(head.data FOR 1) = substring(new.data FOR 1) AND threshold IS NOT NULL
      AND head.tank <> ALL ($9::text[])
    RETURNING number, head.tank, total - in_blocks AS length,
      ${changesNoAlert("new.fill", "$8::double precision", "least")} AS changes_no_alert
  )
  SELECT coalesce(array_agg(number), '{}'), coalesce(array_agg(tank) FILTER (WHERE length > ${HEAD_MAX}), '{}'),
    coalesce(array_agg(tank) FILTER (WHERE NOT changes_no_alert), '{}') FROM appended`);
const APPEND = { tank: appendStatement("tank"), device: appendStatement("device") };

const HEADS_FOR_UPDATE =
  "SELECT tank, total, start, data, checksum FROM head WHERE tank = ANY ($1::text[]) ORDER BY tank FOR UPDATE";
const LOCK_HEADS = statement(HEADS_FOR_UPDATE);
const TRY_LOCK_HEADS = statement(`${HEADS_FOR_UPDATE} NOWAIT`);

const BLOCKS = statement(`
  SELECT block.tank, block.start, block.data, block.checksum FROM unnest($1::text[], $2::bigint[]) AS wanted (tank, start)
  CROSS JOIN LATERAL (SELECT * FROM block WHERE tank = wanted.tank AND start = wanted.start OFFSET 0) AS block`);

const WRITE_HEADS = statement(`
  UPDATE head SET total = new.total, in_blocks = new.in_blocks, start = new.start, data = new.data,
    checksum = new.checksum, at = new.at, fill = new.fill
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bigint[], $7::bigint[],
    $8::double precision[]) AS new (tank, total, in_blocks, start, data, checksum, at, fill)
  WHERE ${equalsByIndex("head.tank", "new.tank")}`);

const SET_EVALUATIONS = statement(`
  UPDATE head SET active_conditions = new.active_conditions, evaluate_at = new.evaluate_at
  FROM unnest($1::text[], $2::integer[], $3::bigint[]) AS new (tank, active_conditions, evaluate_at)
  WHERE ${equalsByIndex("head.tank", "new.tank")}`);

const WRITE_BLOCKS = statement(`
  INSERT INTO block (tank, start, data, checksum) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[], $4::bigint[])
  ON CONFLICT (tank, start) DO UPDATE SET data = excluded.data, checksum = excluded.checksum`);
const MAX_BLOCKS_PER_STATEMENT = 10_000;

export function telemetryWrites(db: Db, closeMargin: number, damagedTanks: ReadonlySet<string>) {
  return {
    async append(by: ReadingSource["kind"], batch: BatchColumns, appends: readonly Append[]): Promise<AppendResult> {
      const at = (i: number, column: Float64Array): number[] =>
        appends.map(({ positions }) => column[positions.at(i) as number] as number);
      const checksums: number[] = [];
      const data = writtenByteas(appends, appendSize, (view, append, offset) => {
        checksums.push(writeAppend(view, offset, batch, append));
      });
      const [row] = await db.rows(APPEND[by], [
        texts(appends.map(({ id }) => id)),
        bigints(appends.map(({ positions }) => positions.length)),
        bigints(at(0, batch.createdAt)),
        bigints(at(-1, batch.createdAt)),
        doubles(at(-1, batch.fill)),
        data,
        bigints(checksums),
        closeMargin,
        texts([...damagedTanks]),
      ]);
      const [numbers, longHeads, toEvaluate] = row as unknown as readonly [
        readonly number[],
        readonly string[],
        readonly string[],
      ];
      return { appended: numbers.map((number) => appends[number - 1] as Append), longHeads, toEvaluate };
    },

    lockHeads: async (tankIds: readonly string[]): Promise<Map<string, HeadRow>> =>
      headsOf(await db.rows(LOCK_HEADS, [texts(tankIds)])),

    tryLockHeads: (tankIds: readonly string[]): Promise<Map<string, HeadRow> | "busy"> =>
      db.rows(TRY_LOCK_HEADS, [texts(tankIds)]).then(headsOf, (error: unknown) => {
        if (isLockNotAvailable(error)) return "busy";
        throw error;
      }),

    async blocks(wanted: readonly BlockKey[]) {
      const keys = [wanted.map(({ tankId }) => tankId), wanted.map(({ start }) => start)];
      const rows = wanted.length === 0 ? [] : await db.rows(BLOCKS, keys);
      const found = new Map(rows.map(([tankId, start, data, checksum]) => [`${start} ${tankId}`, { data, checksum }]));
      return { get: ({ tankId, start }: BlockKey): BlockRow => ({ start, ...found.get(`${start} ${tankId}`) }) as BlockRow };
    },

    async writeHeads(heads: ReadonlyMap<string, HeadUpdate>): Promise<void> {
      const updates = [...heads.values()];
      const latest = updates.map(({ data }) => lastReading(new Block(data)));
      await db.rows(WRITE_HEADS, [
        texts([...heads.keys()]),
        bigints(updates.map(({ total }) => total)),
        bigints(updates.map(({ inBlocks }) => inBlocks)),
        bigints(updates.map(({ start }) => start)),
        byteas(updates.map(({ data }) => data)),
        bigints(Array.from(heads, ([tankId, head]) => headChecksum(tankId, head))),
        bigints(latest.map((reading) => reading?.created_at ?? EARLIEST)),
        latest.map((reading) => reading?.fill_percentage ?? null),
      ]);
    },

    async setEvaluations(states: ReadonlyMap<string, StoredEvaluation>): Promise<void> {
      const values = [...states.values()];
      const columns = [values.map(({ activeConditions }) => activeConditions), values.map(({ evaluateAt }) => evaluateAt)];
      if (values.length > 0) await db.rows(SET_EVALUATIONS, [texts([...states.keys()]), ...columns]);
    },

    async writeBlocks(blocks: readonly (StoredBlock & { readonly tankId: string })[]): Promise<void> {
      for (const some of chunksOf(blocks, MAX_BLOCKS_PER_STATEMENT)) {
        await db.rows(WRITE_BLOCKS, [
          texts(some.map(({ tankId }) => tankId)),
          bigints(some.map(({ start }) => start)),
          byteas(some.map(({ data }) => data)),
          bigints(some.map((block) => blockChecksum(block.tankId, block))),
        ]);
      }
    },
  };
}

function headsOf(rows: readonly Row[]): Map<string, HeadRow> {
  const heads = rows as unknown as (readonly [string, number, number, Uint8Array, number])[];
  return new Map(heads.map(([tankId, total, start, data, checksum]) => [tankId, { total, start, data, checksum }]));
}
