// A service whose disk is full for so many seconds.

import type { TestContext } from "node:test";
import type { DiskKind } from "./disks.ts";
import { sitOut } from "./outage.ts";
import { trialOn } from "./trial.ts";

export async function surviveFullDisk(t: TestContext, kind: DiskKind, seed: string, seconds: number): Promise<void> {
  const disk = await kind.open(t);
  const database = { url: disk.databaseUrl, settled: async () => {} };
  const trial = await trialOn(t, { name: kind.name, open: async () => database }, seed);
  await sitOut(t, trial, {
    begin: disk.fill,
    end: disk.free,
    canRead: true,
    seconds,
    event: "writes",
  });
}
