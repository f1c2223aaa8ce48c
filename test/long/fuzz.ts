// A million random requests. TEST_SEED=482913 repeats those of one seed.

import { fuzzTest } from "../http/fuzz/run.ts";

fuzzTest("sqlite", 500_000, true);
fuzzTest("postgres", 500_000, true);
