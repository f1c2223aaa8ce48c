// Another process: opens the database of each line of its input, and prints a line for each.

import { createInterface } from "node:readline";
import { openStore } from "../../../src/store/open.ts";

console.log("ready");
for await (const file of createInterface({ input: process.stdin })) {
  try {
    const store = await openStore(`sqlite:${file}`, () => {});
    await store.ping();
    const isEmpty = await store.isEmpty();
    await store.close();
    console.log(isEmpty ? "opened" : "not empty");
  } catch (error) {
    console.log(String(error));
  }
}
