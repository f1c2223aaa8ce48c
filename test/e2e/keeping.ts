// Commands that keep the fleet, on the database itself or on a running service: the same words, the same outcome.

import assert from "node:assert/strict";
import { importLines, type Line, makeKey } from "./fleet.ts";
import { type Finished, type Home, home, type Lifetime, type Service, type Surroundings } from "./program.ts";

export type Way = {
  readonly here: Home;
  /** Where there is one. */
  readonly service: Service | undefined;
  readonly run: (words: readonly string[], more?: Partial<Surroundings>) => Promise<Finished>;
  /** What a command that must work prints. */
  readonly done: (...words: readonly string[]) => Promise<string>;
  /** The objects that it prints with --json, one a line. */
  readonly items: (...words: readonly string[]) => Promise<readonly Line[]>;
};

export const WAYS = ["the database", "a running service"] as const;

/** A home with a fleet, and commands that reach it the one way or the other. */
export async function keeping(life: Lifetime, on: (typeof WAYS)[number], lines: Iterable<Line>): Promise<Way> {
  const here = home(life);
  await importLines(here, lines);
  if (on === "the database") return wayBy(here, undefined, (words, more) => here.run(words, more));
  const service = await here.start();
  const TANK_MONITOR_KEY = await makeKey(here, "--role", "manage");
  // Whoever works on a service has no database of their own, and shall not get one.
  const env = { TANK_MONITOR_KEY, DATABASE_URL: "sqlite:never.db" };
  return wayBy(here, service, (words, more) =>
    here.run([...words, "--url", service.url], { ...more, env: { ...env, ...more?.env } }),
  );
}

export function wayBy(here: Home, service: Service | undefined, run: Way["run"]): Way {
  async function done(...words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await run(words);
    assert.equal(code, 0, stderr);
    return stdout;
  }
  return {
    here,
    service,
    run,
    done,
    async items(...words) {
      const text = await done(...words, "--json");
      return text === ""
        ? []
        : text
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line) as Line);
    },
  };
}

export async function refused(way: Way, words: readonly string[], says: RegExp, exitCode = 1): Promise<void> {
  const { code, stdout, stderr } = await way.run(words);
  assert.deepEqual([stdout, code], ["", exitCode], stderr);
  assert.match(stderr, says);
}
