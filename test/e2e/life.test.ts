import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { createKey, FIVE_PATHS, importLines, reading, SMALL_FLEET } from "./fixtures.ts";
import { type Service, suiteLifetime, type Workspace, workspace } from "./program.ts";
import { get, type HttpResponse, item, list } from "./requests.ts";

const seen = ({ status, headers, text }: HttpResponse) => ({ status, etag: headers.get("etag"), text });

function fiveAnswers(service: Service, key: string): Promise<ReturnType<typeof seen>[]> {
  return Promise.all(FIVE_PATHS.map(async (path) => seen(await get(service, path, key))));
}

suite("the life of a service", () => {
  const life = suiteLifetime();
  let here: Workspace;
  let key: string;

  before(async () => {
    here = workspace(life);
    await importLines(here, SMALL_FLEET);
    key = await createKey(here);
  });

  test("a file is imported, a key is made, the service is started: the five calls answer", async () => {
    const service = await here.start();

    const customers = await list(service, "/v1/customers", key);
    assert.deepEqual(
      customers.data.map(({ id, tank_count }) => [id, tank_count]),
      [
        ["bob", 1],
        ["ada", 2],
      ],
    );
    assert.deepEqual(await item(service, "/v1/customers/ada", key), {
      id: "ada",
      object: "customer",
      created_at: "2026-01-01T00:00:00.000Z",
      email: "ada@customers.example",
      is_verified: true,
      last_seen_at: null,
      name: "Customer ada",
      phone: "+43 1 234",
      tank_count: 2,
      updated_at: "2026-01-01T00:00:00.000Z",
      verified_at: "2026-01-05T08:00:00.000Z",
    });
    const tanks = await list(service, "/v1/tanks?size=2", key);
    assert.deepEqual([tanks.data.map(({ id }) => id), tanks.total_items, tanks.total_pages], [["a2", "b1"], 3, 2]);
    assert.deepEqual((await item(service, "/v1/tanks/a1", key))["owner_id"], "ada");
    const { data } = await list(service, "/v1/tanks/a1/telemetry", key);
    assert.deepEqual(data[0], { object: "telemetry", created_at: "2026-01-03T00:02:00.000Z", fill_percentage: 79.25 });
    assert.deepEqual(
      data.map(({ fill_percentage }) => fill_percentage),
      [79.25, 79.5, 80],
    );
    assert.deepEqual(await item(service, "/v1/customers/gone", key), { id: "gone", object: "customer", deleted: true });
    assert.deepEqual(await item(service, "/v1/tanks/scrapped", key), { id: "scrapped", object: "tank", deleted: true });
    assert.equal((await service.stop()).code, 0);
  });

  test("a service that is stopped and started again gives the same answers, byte for byte", async () => {
    const first = await here.start();
    const before = await fiveAnswers(first, key);
    assert.deepEqual(
      before.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    assert.equal((await first.stop()).code, 0);
    const second = await here.start();
    assert.deepEqual(await fiveAnswers(second, key), before);
    await second.stop();
  });

  test("a service killed while it works has everything when it starts again", async () => {
    const first = await here.start();
    await importLines(here, [reading("a1", 3, 79)], "later.ndjson");
    const before = await fiveAnswers(first, key);
    const underWay = Promise.allSettled(Array.from({ length: 20 }, () => get(first, "/v1/tanks", key)));
    first.kill("SIGKILL");
    assert.equal((await first.exited).signal, "SIGKILL");
    await underWay;

    const second = await here.start();
    assert.deepEqual(await fiveAnswers(second, key), before);
    assert.equal((await list(second, "/v1/tanks/a1/telemetry", key)).total_items, 4);
  });
});
