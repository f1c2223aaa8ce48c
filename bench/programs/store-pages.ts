// store-pages.ts DATABASE_URL TANK LAST_PAGE FROM TO LAST_PAGE_OF_RANGE: the median time to read each page from the store.

import { openStore } from "../../src/store/open.ts";
import { median } from "../measure/sampling.ts";

export type StorePages = Readonly<Record<"first page" | "last page" | "first page of range" | "last page of range", number>>;

const SAMPLES = 2000;
const MIN_SAMPLES = 3;
const MAX_MS = 5000;

const [url = "", tankId = "", ...numbers] = process.argv.slice(2);
const [lastPage = 1, from = 0, to = 0, lastOfRange = 1] = numbers.map(Number);
const store = await openStore(url, () => {});

async function time(page: number, bounds: { from: number | undefined; to: number | undefined }): Promise<number> {
  const times: number[] = [];
  const started = performance.now();
  while (times.length < SAMPLES && (times.length < MIN_SAMPLES || performance.now() - started < MAX_MS)) {
    const before = performance.now();
    await store.telemetryPage(tankId, { page, size: 10, ...bounds }, { customerId: null });
    times.push(performance.now() - before);
  }
  return median(times);
}

const everything = { from: undefined, to: undefined };
await time(1, everything);
const times: StorePages = {
  "first page": await time(1, everything),
  "last page": await time(lastPage, everything),
  "first page of range": await time(1, { from, to }),
  "last page of range": await time(lastOfRange, { from, to }),
};
await store.close();
console.log(JSON.stringify(times));
