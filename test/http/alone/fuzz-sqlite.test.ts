import { fuzzTest } from "../fuzz/run.ts";

fuzzTest("sqlite", 16_000);
