// A process of its own: sends each write it is told of, line by line, to the database at URL, without waiting for the one
// before, and says what became of each that was acknowledged. `URL`.

import { createInterface } from "node:readline";
import { openStore } from "../../../src/store/open.ts";
import { type Arrivals, send, type Write } from "../histories/write.ts";

const store = await openStore(process.argv[2] ?? "", () => {});
console.log("ready");
const sent: Promise<void>[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  const write = JSON.parse(line) as Write | Arrivals;
  sent.push(send(store, write).then((words) => console.log(JSON.stringify(words))));
}
await Promise.all(sent);
await store.close();
