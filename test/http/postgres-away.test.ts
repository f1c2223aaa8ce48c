// PostgreSQL goes away and comes back under a running service.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ownPostgres } from "../support/postgres/server.ts";
import { until } from "../support/until.ts";
import { type Answer, get, refused } from "./answers.ts";
import { BRENNER, ENDPOINTS, startFleet } from "./fleet.ts";

const BACK_MS = 2000;
const server = await ownPostgres({ after });
const environment = { DATABASE_URL: server.url, RATE_LIMIT: "0" };
const fleet = await startFleet({ after }, { environment });
const ended = new AbortController();
after(() => ended.abort());
/** What is answered, but for the last use of a key, which moves on. */
const answerOf = async (path: string): Promise<string> =>
  (await get(fleet, path, { key: fleet.operator })).text.replaceAll(/"last_seen_at":"[^"]+"/g, "");
const answers = new Map<string, string>();
for (const { path } of ENDPOINTS) answers.set(path, await answerOf(path));

const readiness = async (): Promise<number> => (await get(fleet, "/readyz")).status;
/** A server that dies lets some connections go before others: an answer in between may be told as a return. */
const told = (): string[] => fleet.events.map(({ kind }) => kind).filter((kind) => kind.startsWith("store_"));

function unavailable(answer: Answer): void {
  refused(answer, 503, "store_unavailable");
  assert.match(String(answer.headers["content-type"]), /^application\/problem\+json/);
  assert.equal(answer.headers["retry-after"], "1");
  const { port, password } = new URL(server.url);
  for (const secret of [port, password, "ECONN", "postgres"]) assert.ok(!answer.text.includes(secret), answer.text);
}

for (const how of ["fast", "kill"] as const) {
  describe(`the server is stopped (${how}) under questions`, () => {
    const statuses = new Set<number>();
    let requests = 0;
    let isOver = false;
    let asking: Promise<unknown>;

    before(async () => {
      // Whoever asks all the time hears 200 or 503, and never anything else.
      const asker = async (path: string): Promise<void> => {
        for (; !isOver && !ended.signal.aborted; requests++) {
          statuses.add((await get(fleet, path, { key: fleet.operator })).status);
        }
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

    it("the operator is told, and not with every request", () => {
      assert.equal(told().at(-1), "store_unavailable");
      assert.ok(told().length <= 10 && requests > 30, `${told()}, ${requests} requests`);
      assert.ok(!fleet.events.some(({ kind }) => kind === "request_failed"), "it is nobody's fault");
    });

    it("within two seconds of the server, all of it is answered as before, by the same process", async () => {
      await server.start();
      const back = performance.now();
      await until("/readyz says yes", async () => (await readiness()) === 200, BACK_MS);
      for (const { path } of ENDPOINTS) {
        assert.equal(await answerOf(path), answers.get(path), path);
      }
      const key = await fleet.key({ customerId: BRENNER });
      assert.equal((await get(fleet, "/v1/tanks", { key })).status, 200);
      const milliseconds = Math.round(performance.now() - back);
      assert.ok(milliseconds < BACK_MS, `after ${milliseconds} ms`);
      assert.equal(told().at(-1), "store_recovered");
    });

    it("whoever asked all the time was answered or told to wait, and nothing else", async () => {
      isOver = true;
      await asking;
      assert.deepEqual([...statuses].sort(), [200, 503]);
    });
  });
}
