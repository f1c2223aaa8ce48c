import { fuzzTest } from "./fuzz/run.ts";

fuzzTest("sqlite", 10_000);
