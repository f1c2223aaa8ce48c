import { rmSync } from "node:fs";
import { incomingForTanks } from "../src/domain/reading.ts";
import { followReadings } from "../src/forecast/fleet-order.ts";
import { openStore } from "../src/store/open.ts";
import { customerRecord, tankRecord } from "../test/support/records.ts";

const n = Number(process.argv[2] ?? 5000);
const file = "/tmp/fo-move.db";
for (const s of ["", "-wal", "-shm"]) rmSync(file + s, { force: true });
const store = await openStore(`sqlite:${file}`, () => {});
const cpu = () => process.cpuUsage().user / 1000;
let t = performance.now(),
  c = cpu();
const lap = (what: string) => {
  console.log(what, ((performance.now() - t) / n).toFixed(3), "ms/tank wall", ((cpu() - c) / n).toFixed(3), "ms/tank cpu");
  t = performance.now();
  c = cpu();
};
for (let i = 0; i < n / 100; i++) await store.importCustomers([customerRecord(`c${i}`)]);
lap("customers");
const ids = Array.from({ length: n }, (_, i) => `tank_${String(i).padStart(7, "0")}`);
for (let i = 0; i < n; i += 2000)
  await store.importTanks(ids.slice(i, i + 2000).map((id, k) => tankRecord(id, `c${Math.floor((i + k) / 100)}`, {})));
lap("tanks");
for (let round = 0; round < 3; round++) {
  await store.ingest(
    incomingForTanks({
      tankIds: ids,
      tank: Uint32Array.from(ids, (_, i) => i),
      createdAt: Float64Array.from(ids, () => 1.7e12 + round * 1e7 + Math.random() * 1e6),
      fill: Float64Array.from(ids, () => 25 + Math.round(Math.random() * 700) / 10),
    }),
  );
  lap("readings");
  await followReadings(store, Date.now());
  lap("follow");
}
await store.close();
