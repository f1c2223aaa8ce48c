// Short outages; test/long has longer ones.

import test from "node:test";
import { DISKS } from "./disks.ts";
import { surviveFullDisk, survivePostgresAway } from "./outages.ts";
import { SEED } from "./random.ts";

for (const kind of DISKS) {
  test(`${kind.name} is full for a while: nothing is lost, nothing is acknowledged early, seed ${SEED}`, async (t) => {
    await surviveFullDisk(t, kind, SEED, 1);
  });
}

test(`PostgreSQL is stopped for a while: nothing is lost, nothing is acknowledged early, seed ${SEED}`, async (t) => {
  await survivePostgresAway(t, "kill", SEED, 1);
});
