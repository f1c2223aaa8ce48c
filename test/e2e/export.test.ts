import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { customer, importLines, makeKey, manyLines, ndjson, reading, SMALL_FLEET, tank } from "./fleet.ts";
import { home, LAUNCHER } from "./program.ts";

const DIFFICULT = [
  ...SMALL_FLEET,
  customer("ünï·cøde 🛢", { email: "zoë@söhne.example", name: 'Zoë "the Tank" O\u2019Brien \\ Söhne', phone: null }),
  customer("early", { created_at: "1969-12-31T23:59:59.999Z", updated_at: "2026-01-01T00:00:00.001Z" }),
  tank("of,a\"strange'name", "ünï·cøde 🛢", { capacity: 0.1, location: { latitude: -89.999999, longitude: 180 } }),
  reading("of,a\"strange'name", 0, 33.333333333333336),
  reading("scrapped", 5, 7),
  { object: "telemetry", tank_id: "a2", created_at: "1970-01-01T00:00:00.000Z", fill_percentage: 0 },
];

suite("an export", { concurrency: 2 }, () => {
  test("an export imported into a fresh database, and exported again, gives the same bytes; as CSV too", async (t) => {
    const here = home(t);
    await importLines(here, DIFFICULT);
    assert.equal((await here.run(["export", "whole.ndjson"])).code, 0);
    assert.equal((await here.run(["export", "readings.csv"])).code, 0);

    const other = { env: { DATABASE_URL: "sqlite:other.db" } };
    const taken = await here.run(["import", "whole.ndjson", "--json"], other);
    // A device that serves a tank is made with it: its own line finds it there.
    const [devices, read] = [4, DIFFICULT.length + 4];
    const counts = { read, new: read - devices, changed: 0, unchanged: devices, rejected: 0, waiting: 0 };
    assert.equal(taken.stdout, `${JSON.stringify(counts)}\n`);
    const [lines, csv] = await Promise.all([here.run(["export"], other), here.run(["export", "-", "--csv"], other)]);
    assert.equal(lines.stdout, readFileSync(here.path("whole.ndjson"), "utf8"));
    assert.equal(csv.stdout, readFileSync(here.path("readings.csv"), "utf8"));
    const again = await here.run(["import", "readings.csv", "--json"], other);
    assert.match(again.stdout, /"new":0,"changed":0,"unchanged":7,"rejected":0/);
  });

  test("an export keeps deleted objects with all their fields", async (t) => {
    const here = home(t);
    await importLines(here, SMALL_FLEET);
    const { stdout } = await here.run(["export"]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.equal(lines.filter(({ object }) => object !== "device").length, SMALL_FLEET.length);
    const gone = lines.find(({ id }) => id === "gone");
    assert.deepEqual([gone?.["deleted"], gone?.["email"]], [true, "gone@customers.example"]);
    assert.equal(lines.find(({ id }) => id === "ada")?.["deleted"], undefined);
  });

  test("an export carries shapes, profiles, where devices served, and what waits, and says what is not in it", async (t) => {
    const here = home(t);
    const shape = { kind: "horizontal_cylinder", diameter: 1.25, heads: "flat", unit: "m", sensor_height: 1.4 };
    const services = [{ tank_id: "scrapped", until: "2025-01-01T00:00:00.000Z" }];
    const since = "2025-01-01T00:00:00.000Z";
    const device = { id: "dev-a1", object: "device", tank_id: "a1", since, profile: "elsys", dropped: 12, services };
    const waits = { object: "telemetry", device_id: "stranger", created_at: "2026-01-01T00:00:00.000Z", fill_percentage: 7 };
    const unread = { object: "telemetry", device_id: "stranger", created_at: "2026-01-02T00:00:00.000Z", payload: { a: [1] } };
    const given = [...SMALL_FLEET, tank("a1", "ada", { assigned_device_id: "dev-a1", shape }), device, waits, unread];
    writeFileSync(here.path("given.ndjson"), ndjson(given));
    const taken = await here.run(["import", "given.ndjson"]);
    assert.match(taken.stdout, / 0 rejected, 2 pending for a tank, a profile or a shape\n$/, taken.stderr);
    const exported = await here.run(["export", "whole.ndjson"]);
    assert.match(exported.stderr, /lines exported, without keys and the audit log \("backup" has those\)\n$/);
    const whole = readFileSync(here.path("whole.ndjson"), "utf8");
    const lines = whole.trimEnd().split("\n");
    for (const line of [device, waits, unread]) assert.ok(lines.includes(JSON.stringify(line)), JSON.stringify(line));
    assert.ok(whole.includes(JSON.stringify(shape)));

    const other = { env: { DATABASE_URL: "sqlite:other.db" } };
    assert.equal((await here.run(["import", "whole.ndjson"], other)).code, 0);
    assert.equal((await here.run(["export"], other)).stdout, whole);
  });

  test("an export overwrites a file only when told to", async (t) => {
    const here = home(t);
    await makeKey(here);
    writeFileSync(here.path("kept.ndjson"), "precious");
    symlinkSync(here.path("kept.ndjson"), here.path("link.csv"));
    for (const file of ["kept.ndjson", "link.csv"]) {
      const { code, stderr } = await here.run(["export", file]);
      assert.equal(code, 1);
      assert.equal(stderr, `tank-monitor: ${file} already exists; --force overwrites it\n`);
      assert.equal(readFileSync(here.path("kept.ndjson"), "utf8"), "precious");
    }
    assert.equal((await here.run(["export", "/dev/null"])).code, 0);
    assert.equal((await here.run(["export", "kept.ndjson", "--force"])).code, 0);
    assert.equal(readFileSync(here.path("kept.ndjson"), "utf8"), "");
  });

  test("an export whose reader goes away early ends quietly", async (t) => {
    const here = home(t);
    writeFileSync(here.path("many.ndjson"), ndjson(manyLines(20_000)));
    assert.equal((await here.run(["import", "many.ndjson"])).code, 0);

    const child = spawn(process.execPath, [LAUNCHER, "export"], {
      cwd: here.folder,
      env: { ...process.env, DATABASE_URL: "sqlite:tanks.db" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    t.after(() => child.kill("SIGKILL"));
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    await once(child.stdout, "data");
    child.stdout.destroy();
    const [code] = await once(child, "close");
    assert.equal(code, 0);
    assert.doesNotMatch(stderr, /Error|EPIPE|should not have happened|\bat /);
  });
});
