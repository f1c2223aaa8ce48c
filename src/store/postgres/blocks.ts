// Writes blocks of readings: new ones, and those that have taken some in.

import { bigints, pieces, texts } from "./arrays.ts";
import { type Db, statement } from "./connection.ts";

type Block = { readonly tank: string; readonly start: number; readonly data: Uint8Array };

const WRITE = statement(`
  INSERT INTO block (tank, start, data) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[])
  ON CONFLICT (tank, start) DO UPDATE SET data = excluded.data`);
const BLOCKS_A_STEP = 10_000;

export async function writeBlocks(db: Db, blocks: readonly Block[]): Promise<void> {
  for (let from = 0; from < blocks.length; from += BLOCKS_A_STEP) {
    const some = blocks.slice(from, from + BLOCKS_A_STEP);
    await db.rows(WRITE, [
      texts(some.map(({ tank }) => tank)),
      bigints(some.map(({ start }) => start)),
      pieces(some.map(({ data }) => data)),
    ]);
  }
}
