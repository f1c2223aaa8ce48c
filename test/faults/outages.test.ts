// Short outages; test/long has longer ones.

import test from "node:test";
import { LIMITED_FILES } from "./disks.ts";
import { surviveFullDisk, survivePostgresOutage } from "./outages.ts";
import { SEED } from "./scenario.ts";

const { skip } = LIMITED_FILES;
test(`the disk is full for a while: nothing is lost, nothing is acknowledged early, seed ${SEED}`, { skip }, (t) =>
  surviveFullDisk(t, LIMITED_FILES, SEED, 1),
);

test(`PostgreSQL is stopped for a while: nothing is lost, nothing is acknowledged early, seed ${SEED}`, (t) =>
  survivePostgresOutage(t, "kill", SEED, 1));
