// A server in its own process that serves pages of a tank's readings, newest first, with the exact total.

import { expectedPage, type PlannedReading, type TankPlan } from "../dataset/readings.ts";
import { Connection, type HttpResponse } from "../measure/connection.ts";

export const PAGE_SIZE = 10;

export type Contestant = AsyncDisposable & {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
  readonly path: (tankId: string, page: number) => string;
  readonly decode: (response: HttpResponse) => { readonly total: number; readonly readings: readonly PlannedReading[] };
};

export const lastPage = ({ readings }: TankPlan): number => Math.ceil(readings / PAGE_SIZE);

/** Throws unless the first page, the last and one between have exactly the readings and the total that were written. */
export async function verifyPages(contestant: Contestant, tanks: readonly TankPlan[]): Promise<void> {
  using connection = await Connection.open(contestant);
  for (const tank of tanks) {
    for (const page of new Set([1, Math.ceil(lastPage(tank) / 2), lastPage(tank)])) {
      const response = await connection.get(contestant.path(tank.id, page));
      if (response.status !== 200)
        throw new Error(`${contestant.name} responded with ${response.status}: ${response.body.slice(0, 300)}`);
      const got = contestant.decode(response);
      const expected = { total: tank.readings, readings: expectedPage(tank, page, PAGE_SIZE) };
      if (JSON.stringify(got) !== JSON.stringify(expected)) {
        throw new Error(
          `${contestant.name}, ${tank.id}, page ${page}: ${JSON.stringify(got)} where ${JSON.stringify(expected)} was expected`,
        );
      }
    }
  }
}
