// Another process: ingests the readings of each line of its input at once, and prints a line for each batch that is stored. `URL`.

import { createInterface } from "node:readline";
import { openStore } from "../../../src/store/open.ts";
import { ingest, type SentReading } from "../../support/readings.ts";

const store = await openStore(process.argv[2] ?? "", () => {});
console.log("ready");
const batches: Promise<void>[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  batches.push(ingest(store, ...(JSON.parse(line) as SentReading[])).then((outcomes) => console.log(JSON.stringify(outcomes))));
}
await Promise.all(batches);
await store.close();
