// Commands that keep the fleet, on the database itself or on a running service: the same words, the same outcome.

import assert from "node:assert/strict";
import { createKey, importLines, type Line } from "./fixtures.ts";
import { type ExitResult, type Lifetime, type RunOptions, type Service, type Workspace, workspace } from "./program.ts";

export type Cli = {
  readonly workspace: Workspace;
  /** Where there is one. */
  readonly service: Service | undefined;
  readonly run: (words: readonly string[], more?: Partial<RunOptions>) => Promise<ExitResult>;
  /** What a command that must work prints. */
  readonly output: (...words: readonly string[]) => Promise<string>;
  /** The objects that it prints with --json, one a line. */
  readonly items: (...words: readonly string[]) => Promise<readonly Line[]>;
};

export const WAYS = ["the database", "a running service"] as const;

/** A home with a fleet, and commands that reach it the one way or the other. */
export async function cliOn(life: Lifetime, on: (typeof WAYS)[number], lines: Iterable<Line>): Promise<Cli> {
  const here = workspace(life);
  await importLines(here, lines);
  if (on === "the database") return cliWith(here, undefined, (words, more) => here.run(words, more));
  const service = await here.start();
  const TANK_MONITOR_KEY = await createKey(here, "--role", "manage");
  // Whoever works on a service has no database of their own, and shall not get one.
  const env = { TANK_MONITOR_KEY, DATABASE_URL: "sqlite:never.db" };
  return cliWith(here, service, (words, more) =>
    here.run([...words, "--url", service.url], { ...more, env: { ...env, ...more?.env } }),
  );
}

export function cliWith(here: Workspace, service: Service | undefined, run: Cli["run"]): Cli {
  async function done(...words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await run(words);
    assert.equal(code, 0, stderr);
    return stdout;
  }
  return {
    workspace: here,
    service,
    run,
    output: done,
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

export async function expectFailure(way: Cli, words: readonly string[], says: RegExp, exitCode = 1): Promise<void> {
  const { code, stdout, stderr } = await way.run(words);
  assert.deepEqual([stdout, code], ["", exitCode], stderr);
  assert.match(stderr, says);
}
