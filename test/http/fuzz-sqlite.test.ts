import { fuzzTest } from "./fuzz/run.ts";

fuzzTest("sqlite", 6_000);
