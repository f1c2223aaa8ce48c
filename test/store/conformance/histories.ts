import test from "node:test";
import { liveThrough } from "../histories/history.ts";
import { seedOf } from "../histories/shapes.ts";
import type { Engine } from "./engine.ts";

export function historyConformance(engine: Engine): void {
  test("a long history of writes, crashes and writers at once leaves every page and total as a naive model says", async (t) => {
    await liveThrough(engine, t, seedOf(Date.now() % 1_000_000, "quick", 0));
  });
}
