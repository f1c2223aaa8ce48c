import { fuzzTest } from "./fuzz/run.ts";

fuzzTest("postgres", 10_000);
