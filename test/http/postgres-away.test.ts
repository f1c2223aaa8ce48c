// PostgreSQL goes away and comes back under a running service.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ownPostgres } from "../support/postgres/own.ts";
import { until } from "../support/until.ts";
import { type Answer, get, refused } from "./answers.ts";
import { BRENNER, ENDPOINTS, startFleet } from "./fleet.ts";

const BACK_MS = 2000;
const server = await ownPostgres({ after });
const environment = { DATABASE_URL: server.url, RATE_LIMIT: "0" };
const fleet = await startFleet({ after }, { environment });
const ended = new AbortController();
after(() => ended.abort());
const answers = new Map<string, string>();
for (const { path } of ENDPOINTS) answers.set(path, (await get(fleet, path, { key: fleet.operator })).text);

const readiness = async (): Promise<number> => (await get(fleet, "/readyz")).status;
const told = (...kinds: string[]): number => fleet.events.filter(({ kind }) => kinds.includes(kind)).length;

function unavailable(answer: Answer): void {
  refused(answer, 503, "store_unavailable");
  assert.match(String(answer.headers["content-type"]), /^application\/problem\+json/);
  assert.equal(answer.headers["retry-after"], "1");
  const { port, password } = new URL(server.url);
  for (const secret of [port, password, "ECONN", "postgres"]) assert.ok(!answer.text.includes(secret), answer.text);
}

for (const [i, how] of (["fast", "kill"] as const).entries()) {
  describe(`the server is stopped (${how}) under questions`, () => {
    const statuses = new Set<number>();
    let isOver = false;
    let asking: Promise<unknown>;

    before(async () => {
      // Whoever asks all the time hears 200 or 503, and never anything else.
      const asker = async (path: string): Promise<void> => {
        while (!isOver && !ended.signal.aborted) statuses.add((await get(fleet, path, { key: fleet.operator })).status);
      };
      asking = Promise.all(ENDPOINTS.map(({ path }) => asker(path)));
      await server.stop(how);
    });

    it("/readyz says no, /healthz yes", async () => {
      await until("/readyz says no", async () => (await readiness()) === 503);
      unavailable(await get(fleet, "/readyz"));
      assert.equal((await get(fleet, "/healthz")).status, 200);
    });

    it("every endpoint is 503 with Retry-After, to every key", async () => {
      for (const { path } of ENDPOINTS) {
        for (const key of [fleet.operator, fleet.brenner]) unavailable(await get(fleet, path, { key }));
      }
    });

    it("the operator is told once", () => {
      assert.equal(told("store_lost"), i + 1);
      assert.equal(told("request_failed"), 0, "it is nobody's fault");
    });

    it("within two seconds of the server, all of it is answered as before, by the same process", async () => {
      await server.start();
      const back = performance.now();
      await until("/readyz says yes", async () => (await readiness()) === 200, BACK_MS);
      for (const { path } of ENDPOINTS) {
        assert.equal((await get(fleet, path, { key: fleet.operator })).text, answers.get(path), path);
      }
      const key = await fleet.key({ customerId: BRENNER });
      assert.equal((await get(fleet, "/v1/tanks", { key })).status, 200);
      const milliseconds = Math.round(performance.now() - back);
      assert.ok(milliseconds < BACK_MS, `after ${milliseconds} ms`);
      assert.equal(told("store_back"), i + 1);
    });

    it("whoever asked all the time was answered or told to wait, and nothing else", async () => {
      isOver = true;
      await asking;
      assert.deepEqual([...statuses].sort(), [200, 503]);
    });
  });
}
