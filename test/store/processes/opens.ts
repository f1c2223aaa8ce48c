// A process of its own: opens each database it is told of, line by line, and says how that went, and how far a migration is.

import { createInterface } from "node:readline";
import type { Event } from "../../../src/domain/events.ts";
import { openStore } from "../../../src/store/open.ts";

const say = (event: Event): void => {
  if (event.kind === "migrating") console.log(`migrating ${event.done} of ${event.total}`);
};

console.log("ready");
for await (const file of createInterface({ input: process.stdin })) {
  try {
    const store = await openStore(`sqlite:${file}`, say);
    await store.ping();
    const isEmpty = await store.isEmpty();
    await store.close();
    console.log(isEmpty ? "opened" : "not empty");
  } catch (error) {
    console.log(String(error));
  }
}
