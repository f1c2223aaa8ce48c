// Side by side: in every round each contestant has its turn, and every other round goes the other way about.

import { say } from "../bench.ts";

export async function alternate<Name extends string, T>(
  rounds: number,
  turns: Readonly<Record<Name, () => Promise<T>>>,
  tell: (seen: T) => string,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(turns) as Name[];
  const seen = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, T[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const value = await turns[name]();
      seen[name].push(value);
      say(`  round ${round + 1} of ${rounds}: ${name} ${tell(value)}`);
    }
  }
  return seen;
}
