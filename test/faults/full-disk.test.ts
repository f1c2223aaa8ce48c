// A disk that fills up under load, and is freed.

import test from "node:test";
import { SEED } from "./chance.ts";
import { DISKS } from "./disks.ts";
import { surviveFullDisk } from "./full-disk.ts";

for (const kind of DISKS) {
  test(`${kind.name} is full for a while: nothing is lost, nothing is acknowledged early, seed ${SEED}`, async (t) => {
    await surviveFullDisk(t, kind, SEED, 3);
  });
}
