// tank-monitor check

import type { Finding, Store } from "../domain/store.ts";
import { type Command, configOf, print, say, withStore } from "./command.ts";
import { Progress } from "./progress.ts";

export const check: Command = {
  name: "check",
  summary: "verify every count and milestone against the data, and repair them",
  usage: "[--repair] [--json]",
  help: `Holds every total, count, milestone and rule of the database against the data itself, while the service runs, and
prints what is off, a line each. Nothing is changed without --repair.

  --repair   makes anew what can be derived from the data; of the rest it says what to do
  --json     prints each finding as {"where","what","repaired"}

Exit 0 if nothing is wrong, or if everything was repaired and a second look finds nothing; else 1.`,
  most: 0,
  flags: { repair: { type: "boolean" }, json: { type: "boolean" } },
  run(call) {
    const isJson = call.flags["json"] === true;
    const isRepairing = call.flags["repair"] === true;
    return withStore(configOf(call), async (store) => {
      const first = await look(store, isRepairing, isJson);
      if (first.found === 0) return 0;
      if (first.repaired < first.found) {
        if (!isRepairing) say("npx tank-monitor check --repair mends what can be derived from the data");
        return 1;
      }
      say("looking again");
      return (await look(store, false, isJson)).found === 0 ? 0 : 1;
    });
  },
};

type Outcome = { readonly found: number; readonly repaired: number };

async function look(store: Store, isRepairing: boolean, isJson: boolean): Promise<Outcome> {
  const progress = new Progress("checking");
  const outcome = { found: 0, repaired: 0 };
  const findings = store.check(isRepairing, (done, total) => progress.show(done, total, ""));
  try {
    for (;;) {
      const step = await findings.next();
      progress.end();
      if (step.done === true) {
        const { customers, tanks, readings } = step.value;
        say(
          `checked ${counted(customers, "customer")}, ${counted(tanks, "tank")}, ${counted(readings, "reading")}: ${words(outcome, isRepairing)}`,
        );
        return outcome;
      }
      print(isJson ? JSON.stringify(step.value) : line(step.value));
      outcome.found++;
      if (step.value.repaired) outcome.repaired++;
    }
  } finally {
    progress.end();
  }
}

function line({ where, what, repaired }: Finding): string {
  return `${where}: ${what}${repaired ? " (repaired)" : ""}`;
}

function words({ found, repaired }: Outcome, isRepairing: boolean): string {
  if (found === 0) return "nothing wrong";
  return `${counted(found, "finding")}${isRepairing ? `, ${repaired} repaired` : ""}`;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
