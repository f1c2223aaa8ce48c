import { fuzzTest } from "../fuzz/run.ts";

fuzzTest("sqlite", 8_000);
