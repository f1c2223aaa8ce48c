// Overhears the statements that this process sends to PostgreSQL.

import pg from "pg";

export type Heard = {
  /** The name under which the server keeps it prepared. */
  readonly name: string | undefined;
  readonly text: string;
};

/** Everything that is sent while `work` runs: on whatever connection, so nothing else may be under way. */
export async function heardDuring(work: () => Promise<unknown>): Promise<Heard[]> {
  const heard: Heard[] = [];
  const original = pg.Client.prototype.query as (...words: unknown[]) => unknown;
  function listening(this: pg.Client, ...words: unknown[]): unknown {
    const [asked] = words as [string | { readonly name?: string; readonly text: string }];
    heard.push(typeof asked === "string" ? { name: undefined, text: asked } : { name: asked.name, text: asked.text });
    return original.apply(this, words);
  }
  pg.Client.prototype.query = listening as typeof pg.Client.prototype.query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = original as typeof pg.Client.prototype.query;
  }
  return heard;
}
