import { fuzzTest } from "../fuzz/run.ts";

fuzzTest("sqlite", 14_000);
