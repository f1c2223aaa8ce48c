// A server in a process of its own that answers the same question: one page of one tank's readings, newest first, with the
// exact total.

import { expectedPage, type PlannedReading, type TankPlan } from "../dataset/readings.ts";
import { type Answer, Connection } from "../measure/connection.ts";

export const SIZE = 10;

export type Contestant = AsyncDisposable & {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
  readonly path: (tankId: string, page: number) => string;
  readonly decode: (answer: Answer) => { readonly total: number; readonly readings: readonly PlannedReading[] };
};

export const lastPage = ({ readings }: TankPlan): number => Math.ceil(readings / SIZE);

/** Throws where a contestant does not answer what was put into it: the first page, the last, and one in between. */
export async function check(contestant: Contestant, tanks: readonly TankPlan[]): Promise<void> {
  using connection = await Connection.open(contestant);
  for (const tank of tanks) {
    for (const page of new Set([1, Math.ceil(lastPage(tank) / 2), lastPage(tank)])) {
      const answer = await connection.ask(contestant.path(tank.id, page));
      if (answer.status !== 200) throw new Error(`${contestant.name} answers ${answer.status}: ${answer.body.slice(0, 300)}`);
      const got = contestant.decode(answer);
      const expected = { total: tank.readings, readings: expectedPage(tank, page, SIZE) };
      if (JSON.stringify(got) !== JSON.stringify(expected)) {
        throw new Error(
          `${contestant.name}, ${tank.id}, page ${page}: ${JSON.stringify(got)} where ${JSON.stringify(expected)} was expected`,
        );
      }
    }
  }
}
