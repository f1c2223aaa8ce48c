// late-writer.ts DATABASE_URL TANK OLDEST NEWEST WRITES: writes appended and late readings in turn, each in its own commit, and
// prints how long each took.

import { incomingForTanks, READING_OUTCOMES } from "../../src/domain/reading.ts";
import { openStore } from "../../src/store/open.ts";

export type LateWrites = { readonly appended: number[]; readonly late: number[] };

const STORED = READING_OUTCOMES.indexOf("stored");
const WARM_UP = 50;
const SECOND = 1000;

const [url = "", tankId = "", ...numbers] = process.argv.slice(2);
const [oldest = 0, newest = 0, writes = 0] = numbers.map(Number);
const store = await openStore(url, () => {});

async function write(createdAt: number): Promise<{ took: number; isNew: boolean }> {
  const started = performance.now();
  const [at, fill] = [Float64Array.of(createdAt), Float64Array.of(50)];
  const { outcomes } = await store.ingest(incomingForTanks({ tankIds: [tankId], tank: Uint32Array.of(0), createdAt: at, fill }));
  return { took: performance.now() - started, isNew: outcomes[0] === STORED };
}

let now = newest;
async function append(): Promise<number> {
  now += SECOND;
  return (await write(now)).took;
}

/** Somewhere in the middle half, at an instant that has no reading yet. */
async function late(i: number): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const place = 0.25 + (((i + attempt * 0.1) * 0.6180339887) % 1) / 2;
    const { took, isNew } = await write(Math.floor(oldest + (newest - oldest) * place));
    if (isNew) return took;
  }
}

const times: LateWrites = { appended: [], late: [] };
for (let i = 0; i < WARM_UP + writes; i++) {
  const [appended, lateOne] = [await append(), await late(i)];
  if (i < WARM_UP) continue;
  times.appended.push(appended);
  times.late.push(lateOne);
}
await store.close();
console.log(JSON.stringify(times));
