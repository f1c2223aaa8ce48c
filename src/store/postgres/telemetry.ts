// Telemetry: the pages of a tank's readings. One statement an answer: it brings the head and the blocks that the page may
// need, and the exact place is found in them here.

import type { Scope } from "../../domain/key.ts";
import type { Page, PageQuery } from "../../domain/page.ts";
import type { Reading } from "../../domain/reading.ts";
import type { Found } from "../../domain/store.ts";
import { Block, readingsOf } from "../series/block.ts";
import { EARLIEST, GAP, GAP_MOST, LATEST, missingGroup } from "../series/levels.ts";
import { HEAD_LEAST } from "../series/weave.ts";
import { type Db, statement } from "./connection.ts";
import { type MilestoneTable, wayAt, wayTo } from "./milestones.ts";

export const READING_MILESTONES: MilestoneTable = {
  table: "reading_milestone",
  series: "tank",
  key: ["start"],
  nodes: ["starts"],
  types: ["bigint"],
};

/** By primary keys. */
const HEAD = statement(`
  SELECT tank.deleted, tank.owner_id, head.total, head.data
  FROM tank JOIN telemetry AS head ON head.tank = tank.id WHERE tank.id = $1`);

const OF_HEAD = `
  head AS (
    SELECT tank.deleted, tank.owner_id, head.total, head.older, head.start, head.data
    FROM tank JOIN telemetry AS head ON head.tank = $1 WHERE tank.id = $1
  )`;

/** The way to the readings from rank `page.first` to `page.past`, as far as they lie in blocks. */
const OF_PAGE = wayTo(READING_MILESTONES, "way", "$1", "SELECT first AS sought FROM page WHERE first < past");

const BLOCKS_OF_PAGE = `
  SELECT 'page', gap.ahead, block.data, NULL, NULL, NULL, block.start
  FROM (SELECT page.past, way.ahead, way.start FROM page JOIN way ON way.level = 0) AS gap
  CROSS JOIN LATERAL (
    SELECT start, data FROM block WHERE tank = $1 AND start >= gap.start
    ORDER BY start LIMIT (gap.past - gap.ahead + ${GAP - 1}) / ${GAP}
  ) AS block`;

const HEAD_ROW = "SELECT 'head' AS kind, total AS ahead, data, deleted, owner_id, older, start FROM head";

/** $1 tank, $2 readings skipped, $3 wanted. Rows: the head, and the blocks that hold the page. By primary keys. */
const DEEP = statement(`
  WITH RECURSIVE ${OF_HEAD}, page AS (
    SELECT greatest(0, total - $2::bigint - $3::bigint) AS first, least(older, total - $2::bigint) AS past FROM head
  ), ${OF_PAGE}
  ${HEAD_ROW} UNION ALL ${BLOCKS_OF_PAGE}`);

/** The way to the last gap that begins before a bound, unless the bound lies in the head. */
const wayToBound = (name: string, bound: string): string =>
  wayAt(
    READING_MILESTONES,
    name,
    "$1",
    `SELECT ${bound} - 1 AS sought FROM head WHERE ${bound} > ${EARLIEST} AND ${bound} < head.start`,
  );

const blockOf = (name: string): string => `
  SELECT '${name}', gap.ahead, block.data, NULL, NULL, NULL, block.start
  FROM ${name} AS gap CROSS JOIN LATERAL (SELECT start, data FROM block WHERE tank = $1 AND start = gap.start OFFSET 0) AS block
  WHERE gap.level = 0`;

/**
 * $1 tank, $2 skipped, $3 wanted, $4 and $5 the bounds, the second not included. Rows as above, and the blocks of the bounds;
 * more blocks for the page, since where a bound lies inside its block is seen only when that is unpacked.
 */
const RANGE = statement(`
  WITH RECURSIVE ${OF_HEAD}, ${wayToBound("lower", "$4::bigint")}, ${wayToBound("upper", "$5::bigint")}, page AS (
    SELECT greatest(0, coalesce(upper.ahead, CASE WHEN $5::bigint = ${LATEST} THEN head.total ELSE head.older END)
        - $2::bigint - $3::bigint) AS first,
      least(head.older, coalesce(upper.ahead + ${GAP_MOST}, head.total) - $2::bigint) AS past
    FROM head LEFT JOIN upper ON upper.level = 0
  ), ${OF_PAGE}
  ${HEAD_ROW} UNION ALL ${BLOCKS_OF_PAGE} UNION ALL ${blockOf("lower")} UNION ALL ${blockOf("upper")}`);

type PageRow = readonly [
  kind: string,
  ahead: number,
  data: Uint8Array,
  deleted: boolean,
  owner: string,
  older: number,
  start: number,
];

export function telemetryQuestions(db: Db) {
  /** The newest few are in the head: nothing else is looked at. */
  async function newest(tankId: string, count: number, skipped: number, sight: Scope): Promise<Found<Page<Reading>>> {
    const [row] = await db.rows(HEAD, [tankId]);
    const found = seen(row?.[0], row?.[1], sight);
    if (found !== "live") return found;
    const [, , total, data] = row as [boolean, string, number, Uint8Array];
    const head = new Block(data);
    return { data: readingsOf(head, head.length - skipped - count, head.length - skipped), totalItems: total };
  }

  async function page(tankId: string, question: PageQuery, sight: Scope): Promise<Found<Page<Reading>>> {
    const { from = EARLIEST, to, page: number, size } = question;
    const end = to === undefined ? LATEST : to + 1;
    const skipped = (number - 1) * size;
    const isWhole = from === EARLIEST && end === LATEST;
    const asked = isWhole ? db.rows(DEEP, [tankId, skipped, size]) : db.rows(RANGE, [tankId, skipped, size, from, end]);
    const rows = (await asked) as unknown as PageRow[];
    const headRow = rows.find(([kind]) => kind === "head");
    const sighted = seen(headRow?.[3], headRow?.[4], sight);
    if (sighted !== "live") return sighted;
    const [, total, data, , , older, start] = headRow as PageRow;
    const head = new Block(data);
    const rank = (bound: number, kind: string): number => {
      if (bound >= start) return older + head.before(bound);
      const row = rows.find((other) => other[0] === kind);
      if (row === undefined) throw missingGroup(0, [bound]);
      return row[1] + new Block(row[2]).before(bound);
    };
    const lower = from === EARLIEST ? 0 : rank(from, "lower");
    const upper = end === LATEST ? total : rank(end, "upper");
    const past = upper - skipped;
    const first = Math.max(lower, past - size);
    const readings = readingsOf(head, first - older, past - older);
    const blocks = rows.filter(([kind]) => kind === "page").sort((a, b) => a[6] - b[6]);
    let ahead = blocks[0]?.[1] ?? 0;
    const parts = blocks.map(([, , bytes]) => {
      const block = new Block(bytes);
      const part = readingsOf(block, first - ahead, past - ahead);
      ahead += block.length;
      return part;
    });
    const found = [...readings, ...parts.reverse().flat()];
    if (found.length < past - first) throw missingGroup(0, [first]);
    return { data: found, totalItems: Math.max(0, upper - lower) };
  }

  return {
    telemetryPage(tankId: string, question: PageQuery, sight: Scope): Promise<Found<Page<Reading>>> {
      const skipped = (question.page - 1) * question.size;
      const isWhole = question.from === undefined && question.to === undefined;
      if (isWhole && skipped + question.size <= HEAD_LEAST) return newest(tankId, question.size, skipped, sight);
      return page(tankId, question, sight);
    },
  };
}

function seen(deleted: unknown, owner: unknown, { customerId }: Scope): "live" | "deleted" | undefined {
  if (deleted === undefined || (customerId !== null && customerId !== owner)) return undefined;
  return deleted === true ? "deleted" : "live";
}
