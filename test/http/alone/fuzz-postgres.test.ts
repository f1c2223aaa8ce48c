import { fuzzTest } from "../fuzz/run.ts";

fuzzTest("postgres", 4_000);
