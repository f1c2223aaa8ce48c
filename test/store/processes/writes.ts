// A process of its own: sends readings of one tank to a database, one after the other, and names each one that was
// acknowledged. `FILE TANK FIRST STEP COUNT`.

import { openStore } from "../../../src/store/open.ts";
import { putReadings } from "../../support/records.ts";

const [file = "", tank = "", first = "", step = "", count = ""] = process.argv.slice(2);
const store = await openStore(`sqlite:${file}`, () => {});
for (let i = 0; i < Number(count); i++) {
  const at = Number(first) + i * Number(step);
  await putReadings(store, tank, [[at, 50]]);
  process.stdout.write(`${at}\n`);
}
await store.close();
