// The data that is measured on: 1,000 tanks with 10,000 readings each, made once and kept in a cache folder.

import { existsSync, renameSync } from "node:fs";
import { openStore } from "../src/store/open.ts";
import { customerRecord, tankRecord } from "../test/support/records.ts";

export const TANKS = 1000;
export const READINGS_A_TANK = 10_000;
const FOUR_HOURS = 4 * 3_600_000;
const FIRST = Date.parse("2022-01-01T00:00:00Z");

export const tankId = (i: number): string => `tank_bench${String(i).padStart(4, "0")}`;

export async function makeDataset(file: string): Promise<void> {
  if (existsSync(file)) return;
  const making = `${file}.making`;
  console.error(`making ${TANKS} tanks with ${READINGS_A_TANK} readings each, once …`);
  const store = await openStore(`sqlite:${making}`, () => {});
  await store.putCustomers([customerRecord("cus_bench")]);
  const started = performance.now();
  for (let i = 0; i < TANKS; i++) {
    await store.putTanks([tankRecord(tankId(i), "cus_bench")]);
    await store.acceptReadings({
      tankIds: [tankId(i)],
      tank: new Uint32Array(READINGS_A_TANK),
      createdAt: Float64Array.from({ length: READINGS_A_TANK }, (_, k) => FIRST + k * FOUR_HOURS + i * 977),
      fill: Float64Array.from({ length: READINGS_A_TANK }, (_, k) => Math.round((50 + 40 * Math.sin((k + i) / 50)) * 10) / 10),
    });
  }
  await store.close();
  const seconds = (performance.now() - started) / 1000;
  console.error(`${Math.round((TANKS * READINGS_A_TANK) / seconds)} readings a second`);
  renameSync(making, file);
}
