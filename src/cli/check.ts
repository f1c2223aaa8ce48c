// tank-monitor check

import type { Store } from "../domain/store.ts";
import { type CliCommand, configOf, withStore } from "./command.ts";
import { counted, ProgressBar, print, printMessage } from "./output.ts";

export const check: CliCommand = {
  name: "check",
  summary: "verify the database, and repair derived data",
  usage: "[--repair] [--json]",
  help: `Verify the database, its totals, indexes and references, while the service runs, and print one error per line. Nothing is
changed without --repair.

  --repair   rebuild what can be derived from the data; for the rest, print what to do
  --json     print each error as {"where","what","repaired"}

Exit 0 if there are no errors, or if all were repaired and a second check finds none; else 1.`,
  maxArguments: 0,
  flags: { repair: { type: "boolean" }, json: { type: "boolean" } },
  run(call) {
    const isJson = call.flags["json"] === true;
    const isRepairing = call.flags["repair"] === true;
    return withStore(configOf(call), async (store) => {
      const first = await checkOnce(store, isRepairing, isJson);
      if (first.found === 0) return 0;
      if (first.repaired < first.found) {
        const canRepair = !isRepairing && first.repairable > 0;
        if (canRepair) printMessage("npx tank-monitor check --repair repairs what can be derived from the data");
        return 1;
      }
      printMessage("checking again");
      return (await checkOnce(store, false, isJson)).found === 0 ? 0 : 1;
    });
  },
};

type ErrorCounts = { readonly found: number; readonly repairable: number; readonly repaired: number };

async function checkOnce(store: Store, isRepairing: boolean, isJson: boolean): Promise<ErrorCounts> {
  using progress = new ProgressBar("checking");
  const count = { found: 0, repairable: 0, repaired: 0 };
  const findings = store.check(isRepairing, (done, total) => progress.show(done, total));
  for (;;) {
    const step = await findings.next();
    progress.end();
    if (step.done === true) {
      const { customers, tanks, readings } = step.value;
      const checked = `${counted(customers, "customer")}, ${counted(tanks, "tank")}, ${counted(readings, "reading")}`;
      printMessage(`checked ${checked}: ${summaryText(count, isRepairing)}`);
      return count;
    }
    const { where, what, isRepairable, repaired } = step.value;
    print(isJson ? JSON.stringify({ where, what, repaired }) : `${where}: ${what}${repaired ? " (repaired)" : ""}`);
    count.found++;
    if (isRepairable) count.repairable++;
    if (repaired) count.repaired++;
  }
}

function summaryText({ found, repaired }: ErrorCounts, isRepairing: boolean): string {
  if (found === 0) return "no errors";
  return `${counted(found, "error")}${isRepairing ? `, ${repaired} repaired` : ""}`;
}
