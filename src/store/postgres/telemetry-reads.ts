// Pages and ranges of a tank's readings. One statement brings the head and the few blocks that the page may be in; the exact readings are
// found in them here.

import { DamageError } from "../../domain/errors.ts";
import { EARLIEST, LATEST } from "../../domain/instant.ts";
import type { Scope } from "../../domain/key.ts";
import type { Page, PageQuery } from "../../domain/page.ts";
import type { InstantRange, Reading, ReadingColumns } from "../../domain/reading.ts";
import type { Found } from "../../domain/store.ts";
import { readingsOf } from "../packed/block.ts";
import { openBlock, openHead } from "../packed/checksum.ts";
import { HEAD_MIN } from "../packed/merge.ts";
import { missingGroup, SEGMENT_MAX, SEGMENT_SIZE } from "../packed/rank-index.ts";
import { PART_BLOCKS, readingPart } from "../packed/reading-part.ts";
import { type Db, statement } from "./connection.ts";
import { segmentAtInstant, segmentOfRank } from "./rank-index.ts";

/** $1 tank, $2 owner, or NULL for any. By primary keys. */
const HEAD = statement(`
  SELECT tank.deleted, head.total, head.start, head.data, head.checksum
  FROM tank JOIN head ON head.tank = tank.id WHERE tank.id = $1 AND tank.owner_id = coalesce($2, tank.owner_id)`);

/** $1 tank, $4 owner, or NULL for any. */
const HEAD_QUERY = `
  own_head AS (
    SELECT tank.deleted, head.total, head.in_blocks, head.start, head.data, head.checksum
    FROM tank JOIN head ON head.tank = $1 WHERE tank.id = $1 AND tank.owner_id = coalesce($4, tank.owner_id)
  )`;

/** The segment of rank `page.first_rank`, if the page begins in a block. */
const PAGE_SEGMENT = segmentOfRank(
  "readings",
  "segment",
  "$1",
  "SELECT first_rank AS wanted FROM page WHERE first_rank < end_rank",
);

const PAGE_BLOCKS = `
  SELECT 'page', found.rank, block.data, NULL, NULL, found.start, block.start, block.checksum
  FROM (SELECT page.end_rank, segment.rank, segment.start FROM page JOIN segment ON segment.level = 0) AS found
  CROSS JOIN LATERAL (
    SELECT start, data, checksum FROM block WHERE tank = $1 AND start >= found.start
    ORDER BY start LIMIT (found.end_rank - found.rank + ${SEGMENT_SIZE - 1}) / ${SEGMENT_SIZE}
  ) AS block`;

const HEAD_ROW =
  "SELECT 'head' AS kind, total AS rank, data, deleted, in_blocks, NULL::bigint AS segment_start, start, checksum FROM own_head";

/** $1 tank, $2 readings skipped, $3 wanted, $4 owner, or NULL for any. Rows: the head, and the blocks of the page. By primary keys. */
const PAGE = statement(`
  WITH RECURSIVE ${HEAD_QUERY}, page AS (
    SELECT greatest(0, total - $2::bigint - $3::bigint) AS first_rank, least(in_blocks, total - $2::bigint) AS end_rank FROM own_head
  ), ${PAGE_SEGMENT}
  ${HEAD_ROW} UNION ALL ${PAGE_BLOCKS}`);

/** The last segment that begins before a bound, unless the bound is in the head. */
const boundSegment = (name: string, bound: string): string =>
  segmentAtInstant(
    "readings",
    name,
    "$1",
    `SELECT ${bound} - 1 AS wanted FROM own_head WHERE ${bound} > ${EARLIEST} AND ${bound} < own_head.start`,
  );

const boundBlock = (name: string): string => `
  SELECT '${name}', segment.rank, block.data, NULL, NULL, NULL, block.start, block.checksum
  FROM ${name} AS segment
  CROSS JOIN LATERAL (SELECT start, data, checksum FROM block WHERE tank = $1 AND start = segment.start OFFSET 0) AS block
  WHERE segment.level = 0`;

/**
 * $1 to $4 as above, $5 and $6 the bounds, the second exclusive. Rows as above, and the blocks of the bounds;
 * more blocks for the page, since the place of a bound inside its block is only known once that is unpacked.
 */
const RANGE = statement(`
  WITH RECURSIVE ${HEAD_QUERY}, ${boundSegment("lower", "$5::bigint")}, ${boundSegment("upper", "$6::bigint")}, page AS (
    SELECT greatest(0, coalesce(upper.rank, CASE WHEN $6::bigint = ${LATEST} THEN own_head.total ELSE own_head.in_blocks END)
        - $2::bigint - $3::bigint) AS first_rank,
      least(own_head.in_blocks, coalesce(upper.rank + ${SEGMENT_MAX}, own_head.total) - $2::bigint) AS end_rank
    FROM own_head LEFT JOIN upper ON upper.level = 0
  ), ${PAGE_SEGMENT}
  ${HEAD_ROW} UNION ALL ${PAGE_BLOCKS} UNION ALL ${boundBlock("lower")} UNION ALL ${boundBlock("upper")}`);

/** $1 tank, $2 and $3 the range, $4 owner, or NULL for any. Rows: the head, and blocks from the beginning of the range. By primary keys. */
const PART = statement(`
  WITH ${HEAD_QUERY}
  SELECT deleted, total, start, data, checksum FROM own_head
  UNION ALL
  SELECT NULL, NULL, block.start, block.data, block.checksum FROM own_head
  CROSS JOIN LATERAL (
    SELECT start, data, checksum FROM block WHERE tank = $1
      AND start >= coalesce((SELECT start FROM block WHERE tank = $1 AND start <= $2::bigint ORDER BY start DESC LIMIT 1), $2::bigint)
      AND start < least($3::bigint, own_head.start)
    ORDER BY start LIMIT ${PART_BLOCKS + 1}
  ) AS block
  WHERE NOT own_head.deleted AND own_head.start > $2::bigint`);

type PartRow = readonly [deleted: boolean | null, total: number, start: number, data: Uint8Array, checksum: number];

type PageRow = readonly [
  kind: string,
  rank: number,
  data: Uint8Array,
  /** In the row of the head only. */
  deleted: boolean,
  inBlocks: number,
  /** In the rows of the page only: where its first block begins. */
  segmentStart: number,
  start: number,
  checksum: number,
];

export function telemetryReads(db: Db) {
  /** The newest few are in the head. */
  async function pageFromHead(tankId: string, count: number, skipped: number, scope: Scope): Promise<Found<Page<Reading>>> {
    const [row] = await db.rows(HEAD, [tankId, scope.customerId]);
    if (row === undefined) return undefined;
    const [isDeleted, total, start, data, checksum] = row as [boolean, number, number, Uint8Array, number];
    if (isDeleted) return "deleted";
    const { block: head } = openHead(tankId, { total, start, data, checksum });
    return { data: readingsOf(head, head.length - skipped - count, head.length - skipped), totalItems: total };
  }

  async function page(tankId: string, request: PageQuery, { customerId }: Scope): Promise<Found<Page<Reading>>> {
    const { from = EARLIEST, to, page, size } = request;
    const before = to === undefined ? LATEST : to + 1;
    const skipped = (page - 1) * size;
    const isUnbounded = from === EARLIEST && before === LATEST;
    const values = [tankId, skipped, size, customerId];
    const query = isUnbounded ? db.rows(PAGE, values) : db.rows(RANGE, [...values, from, before]);
    const rows = (await query) as unknown as PageRow[];
    const headRow = rows.find(([kind]) => kind === "head");
    if (headRow === undefined) return undefined;
    const [, total, data, isDeleted, inBlocks, , start, checksum] = headRow;
    if (isDeleted) return "deleted";
    const { block: head } = openHead(tankId, { total, start, data, checksum });
    if (total - inBlocks !== head.length) throw new DamageError(`tank ${tankId}: the count of its readings is damaged`);
    const rankOf = (bound: number, kind: string): number => {
      if (bound >= start) return inBlocks + head.countBefore(bound);
      const row = rows.find(([name]) => name === kind);
      if (row === undefined) throw missingGroup(0, [bound]);
      const block = rankedBlock(row);
      return block.rank + openBlock(tankId, block).countBefore(bound);
    };
    const lower = from === EARLIEST ? 0 : rankOf(from, "lower");
    const upper = before === LATEST ? total : rankOf(before, "upper");
    const end = upper - skipped;
    const first = Math.max(lower, end - size);
    const newest = readingsOf(head, first - inBlocks, end - inBlocks);
    const pageRows = rows.filter(([kind]) => kind === "page");
    const blocks = pageRows.map(rankedBlock).sort((a, b) => a.start - b.start);
    const [oldest] = blocks;
    if (oldest !== undefined && oldest.start !== oldest.segmentStart) throw missingGroup(0, [oldest.segmentStart]);
    let rank = oldest?.rank ?? 0;
    const older = blocks.map((row) => {
      const block = openBlock(tankId, row);
      const part = readingsOf(block, first - rank, end - rank);
      rank += block.length;
      return part;
    });
    const found = [...newest, ...older.reverse().flat()];
    if (found.length < end - first) throw missingGroup(0, [first]);
    return { data: found, totalItems: Math.max(0, upper - lower) };
  }

  return {
    telemetryPage(tankId: string, request: PageQuery, scope: Scope): Promise<Found<Page<Reading>>> {
      const skipped = (request.page - 1) * request.size;
      const isUnbounded = request.from === undefined && request.to === undefined;
      if (isUnbounded && skipped + request.size <= HEAD_MIN) return pageFromHead(tankId, request.size, skipped, scope);
      return page(tankId, request, scope);
    },

    async readingColumns(tankId: string, range: InstantRange, { customerId }: Scope): Promise<Found<ReadingColumns>> {
      const rows = (await db.rows(PART, [tankId, range.from, range.to, customerId])) as unknown as PartRow[];
      const head = rows.find(([deleted]) => deleted !== null);
      if (head === undefined) return undefined;
      const [isDeleted, total, start, data, checksum] = head;
      if (isDeleted === true) return "deleted";
      const blocks = rows
        .filter((row) => row !== head)
        .map(([, , at, bytes, sum]) => ({ start: at, data: bytes, checksum: sum }));
      return readingPart(
        tankId,
        { total, start, data, checksum },
        blocks.sort((a, b) => a.start - b.start),
        range,
      );
    },
  };
}

/** `rank` is that of the first reading of its segment. */
function rankedBlock([, rank, data, , , segmentStart, start, checksum]: PageRow) {
  return { rank, segmentStart, start, data, checksum };
}
