// Compares the indexes of the database with those of the schema: without one, statements are slow, and a unique one keeps rows from
// contradicting each other. Those of primary keys are not compared.

import { type CheckResult, repairable } from "./inconsistency.ts";

/** The statement that creates each index of a schema, by name. */
export const indexesIn = (schema: string): ReadonlyMap<string, string> =>
  new Map(
    Array.from(schema.matchAll(/CREATE (?:UNIQUE )?INDEX (\w+) [^;]+/g), ([statement, name]) => [name as string, statement]),
  );

export interface IndexOperations {
  /** Names of indexes of the schema that the database does not have. */
  missingIndexes(): Promise<readonly string[]>;
  /** Does nothing if rows break a unique index. */
  createIndex(name: string): Promise<void>;
}

export async function checkIndexes(reads: IndexOperations, only?: string): Promise<CheckResult[]> {
  const missing = await reads.missingIndexes();
  return missing
    .filter((name) => only === undefined || name === only)
    .map((name) => ({ where: `index ${name}`, found: repairable("it does not exist") }));
}
