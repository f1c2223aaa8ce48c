// Short outages; test/long has longer ones.

import test from "node:test";
import { LIMITED_FILES } from "./disks.ts";
import { surviveFullDisk, survivePostgresOutage } from "./outages.ts";
import { LIGHT_LOAD, SEED } from "./scenario.ts";

const { skip } = LIMITED_FILES;
test(`the disk is full for a while: nothing is lost, nothing is acknowledged early, seed ${SEED}`, { skip }, (t) =>
  surviveFullDisk(t, LIMITED_FILES, SEED, 1, LIGHT_LOAD),
);

test(`PostgreSQL is stopped for a while: nothing is lost, nothing is acknowledged early, seed ${SEED}`, (t) =>
  survivePostgresOutage(t, "kill", SEED, 1, LIGHT_LOAD));
