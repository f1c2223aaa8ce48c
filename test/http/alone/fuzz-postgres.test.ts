import { fuzzTest } from "../fuzz/run.ts";

fuzzTest("postgres", 2_000);
