import { fuzzTest } from "../fuzz/run.ts";

fuzzTest("postgres", 6_000);
