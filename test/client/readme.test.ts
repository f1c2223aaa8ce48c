// The examples of client/README.md, as they are printed there, against a real service.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, it } from "node:test";
import { pathToFileURL } from "node:url";
import { type ChangedTank, type Client, createClient } from "../../client/src/index.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const README = new URL("../../client/README.md", import.meta.url);
const SOURCE = new URL("../../client/src/index.ts", import.meta.url);

type Examples = {
  readonly lowTanks: (client: Client) => Promise<readonly string[]>;
  readonly addTank: (client: Client) => Promise<ChangedTank>;
  readonly sendReadings: (client: Client, tankId: string) => Promise<readonly string[]>;
  readonly raiseThreshold: (client: Client, tankId: string) => Promise<ChangedTank>;
  readonly follow: (client: Client, after: number, handle: (type: string, data: object) => unknown) => Promise<number>;
};

/** A module of the blocks of code that export something. */
async function examples(folder: string): Promise<Examples> {
  const blocks = Array.from(readFileSync(README, "utf8").matchAll(/```js\n(.*?)```/gs), ([, code = ""]) => code);
  const exported = blocks.filter((code) => code.includes("export "));
  assert.equal(exported.length, 5);
  const file = join(folder, "examples.mjs");
  writeFileSync(file, exported.join("\n").replaceAll('"@tank-monitor/client"', JSON.stringify(SOURCE.href)));
  return (await import(pathToFileURL(file).href)) as Examples;
}

it("the examples of the README work, one after the other", async () => {
  const service = await startService({ after });
  const client = createClient({ baseUrl: service.url, key: await service.key({ role: "manage" }) });
  const { addTank, sendReadings, lowTanks, raiseThreshold, follow } = await examples(service.folder);

  const { id, min_fill_alert_percentage } = await addTank(client);
  assert.equal(min_fill_alert_percentage, 20);
  const [first, second] = await sendReadings(client, id);
  assert.equal(first, "stored");
  assert.match(second ?? "", /fill_percentage/);
  // Filters of the fleet may be a little behind.
  const line = await until("the tank among the low ones", async () => (await lowTanks(client))[0], 60_000);
  assert.equal(line, "Brenner Gas GmbH, Hall 3: 18.5 %, 2200.5 liters fit");

  // Somebody else changes the tank between the first read and the first change.
  let isFirst = true;
  const raised = createClient({
    baseUrl: service.url,
    key: await service.key({ role: "manage" }),
    async fetch(url, init) {
      if (init?.method === "PATCH" && isFirst) {
        isFirst = false;
        await client.manage.tanks.update(id, { min_fill_alert_percentage: 30 });
      }
      return fetch(url, init);
    },
  });
  assert.equal((await raiseThreshold(raised, id)).min_fill_alert_percentage, 35);

  const events: string[] = [];
  const last = await follow(client, 0, (type) => events.push(type));
  assert.ok(events.includes("alert.opened"), `${events}`);
  assert.equal(await follow(client, last, () => assert.fail("nothing new")), last);
});
