// A PostgreSQL that is stopped under load, and started again.

import test from "node:test";
import { SEED } from "./chance.ts";
import { survivePostgresAway } from "./postgres-away.ts";

test(`PostgreSQL is stopped for a while: nothing is lost, nothing is acknowledged early, seed ${SEED}`, async (t) => {
  await survivePostgresAway(t, "kill", SEED, 3);
});
