// For those who run the service: health, readiness and metrics.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { heldClock } from "../support/clock.ts";
import { contract, get, refused } from "./answers.ts";
import { startFleet } from "./fleet.ts";
import { answersIn, exchange } from "./wire.ts";

const fleet = await startFleet({ after }, { clock: heldClock().clock });
const manage = await fleet.key({ role: "manage" });

const metrics = async (): Promise<string> => (await get(fleet, "/metrics", { key: manage })).text;

/** The value of one line of the metrics, 0 where there is none. */
async function value(line: string): Promise<number> {
  const found = (await metrics()).split("\n").find((text) => text.startsWith(`${line} `));
  return Number(found?.slice(line.length + 1) ?? 0);
}

const count = (route: string, status: number, method = "GET") =>
  value(`tank_monitor_request_duration_seconds_count{route="${route}",method="${method}",status="${status}"}`);

describe("/healthz and /readyz", () => {
  for (const [path, body] of [
    ["/healthz", '{"status":"ok"}'],
    ["/readyz", '{"status":"ready"}'],
  ] as const) {
    it(`${path} needs no key, and is never kept`, async () => {
      const answer = await get(fleet, path);
      assert.deepEqual([answer.status, answer.text], [200, body]);
      assert.equal(answer.headers["cache-control"], "no-store");
      assert.equal((await get(fleet, path, { key: "nonsense" })).status, 200);
      assert.equal((await get(fleet, `${path}?probe=1`)).status, 200);
    });

    it(`${path} does not mind an unexpected body more than it says in the document`, async () => {
      const ask = { headers: { "content-type": "application/json" }, body: "{}" };
      await get(fleet, path, ask);
    });
  }
});

describe("/metrics", () => {
  it("is for keys of the role manage", async () => {
    refused(await get(fleet, "/metrics"), 401, "key_missing");
    refused(await get(fleet, "/metrics", { key: "nonsense" }), 401, "key_invalid");
    refused(await get(fleet, "/metrics", { key: fleet.operator }), 403, "role_insufficient");
    refused(await get(fleet, "/metrics", { key: fleet.brenner }), 403, "role_insufficient");
    assert.equal((await get(fleet, "/metrics", { key: manage })).status, 200);
  });

  it("takes the key as a bearer token too", async () => {
    for (const authorization of [`Bearer ${manage}`, `bearer ${manage}`]) {
      assert.equal((await get(fleet, "/metrics", { headers: { authorization } })).status, 200);
    }
    refused(await get(fleet, "/metrics", { headers: { authorization: `Bearer ${fleet.operator}` } }), 403, "role_insufficient");
    refused(await get(fleet, "/metrics", { headers: { authorization: "Bearer nonsense" } }), 401, "key_invalid");
    for (const authorization of [`Basic ${manage}`, "Bearer", manage]) {
      refused(await get(fleet, "/metrics", { headers: { authorization } }), 401, "key_missing");
    }
  });

  it("has lines in Prometheus' format", async () => {
    const answer = await get(fleet, "/metrics", { key: manage });
    assert.equal(answer.headers["cache-control"], "no-store");
    for (const line of answer.text.split("\n")) {
      assert.match(line, /^(|# (HELP|TYPE) \w+ .+|\w+(\{[^{}]*\})? (-?[\d.e+-]+|[+-]Inf|nan))$/i);
    }
  });

  it("counts requests by route and status, with their time", async () => {
    const before = [await count("/v1/tanks/:id", 200), await count("/v1/tanks/:id", 404), await count("/v1/tanks", 400)];
    await get(fleet, "/v1/tanks/tank_hall", { key: fleet.operator });
    await get(fleet, "/v1/tanks/tank_mill", { key: fleet.operator });
    await get(fleet, "/v1/tanks/tank_nothing", { key: fleet.operator });
    await get(fleet, "/v1/tanks?size=0", { key: fleet.operator });
    const now = [await count("/v1/tanks/:id", 200), await count("/v1/tanks/:id", 404), await count("/v1/tanks", 400)];
    assert.deepEqual(
      now.map((n, i) => n - (before[i] ?? 0)),
      [2, 1, 1],
    );
    const text = await metrics();
    assert.match(
      text,
      /tank_monitor_request_duration_seconds_bucket\{le="0\.\d+",route="\/v1\/tanks\/:id",method="GET",status="200"\}/,
    );
    assert.match(text, /tank_monitor_request_duration_seconds_sum\{route="\/v1\/tanks\/:id",method="GET",status="200"\} 0\.\d+/);
  });

  it("never takes its labels from the caller", async () => {
    await get(fleet, "/made-up-path-1", { key: fleet.operator });
    await get(fleet, "/v1/tanks/made-up-id-2", { key: fleet.operator });
    await exchange(fleet, "MADEUP3 /v1/tanks HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
    await get(fleet, "/v1/tanks", { method: "PURGE" });
    const text = await metrics();
    for (const word of ["made-up-path-1", "made-up-id-2", "MADEUP3", "PURGE", fleet.operator])
      assert.ok(!text.includes(word), word);
    assert.ok((await count("(none)", 404)) >= 1);
  });

  it("counts keys that were refused, by reason", async () => {
    const refusals = (code: string) => value(`tank_monitor_auth_failures_total{code="${code}"}`);
    const codes = ["key_missing", "key_invalid", "role_insufficient"];
    const before = await Promise.all(codes.map(refusals));
    await get(fleet, "/v1/tanks");
    await get(fleet, "/v1/tanks", { key: "nonsense" });
    await get(fleet, "/v1/tanks", { key: await fleet.key({ role: "ingest" }) });
    const now = await Promise.all(codes.map(refusals));
    assert.deepEqual(
      now.map((n, i) => n - (before[i] ?? 0)),
      [1, 1, 1],
    );
  });

  it("counts requests that were too many", async () => {
    const line = 'tank_monitor_rate_limited_total{code="rate_limited"}';
    const before = await value(line);
    const key = await fleet.key({ rate: 1 });
    for (let i = 0; i < 5; i++) await get(fleet, "/v1/tanks", { key });
    assert.equal(await value(line), before + 3);
  });

  it("counts connections that sent no request", async () => {
    const line = 'tank_monitor_connections_rejected_total{code="request_malformed"}';
    const before = await value(line);
    const [answer] = answersIn(await exchange(fleet, "\x16\x03\x01\x00\xa5\r\n\r\n"));
    assert.equal(answer?.status, 400);
    assert.equal(await value(line), before + 1);
  });

  it("shows the time of the store, by question", async () => {
    const line = 'tank_monitor_store_duration_seconds_count{query="tankPage",ok="true"}';
    const before = await value(line);
    await get(fleet, "/v1/tanks", { key: fleet.operator });
    assert.equal(await value(line), before + 1);
    assert.ok((await value('tank_monitor_store_duration_seconds_sum{query="tankPage",ok="true"}')) > 0);
  });

  it("shows the lag of the event loop", async () => {
    assert.match(await metrics(), /^\w*event_?loop_lag_\w*(\{[^}]*\})? [\d.e-]+$/m);
  });

  it("has the line that its documentation shows", async () => {
    const { document } = await contract(fleet);
    const media = Object.values(document.paths["/metrics"]?.["get"]?.responses["200"]?.content ?? {})[0];
    const examples = Object.values(media?.examples ?? {}).map((example) => String(example.value));
    assert.ok(examples.length > 0);
    const text = await metrics();
    for (const example of examples) {
      for (const name of example.match(/^\w+(?=[ {])/gm) ?? []) {
        assert.match(text, new RegExp(`^${name}[ {]`, "m"), `there is a metric ${name}`);
      }
    }
  });
});
