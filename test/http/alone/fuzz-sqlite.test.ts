import { fuzzTest } from "../fuzz/run.ts";

fuzzTest("sqlite", 18_000);
