// Devices kept by the command line: what waits of them, and where it goes.

import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { list } from "./ask.ts";
import { makeKey, SMALL_FLEET } from "./fleet.ts";
import { keeping, refused, WAYS, type Way } from "./keeping.ts";
import { type Service, sharedLife } from "./program.ts";

const EUI = "a84041c2f1827d3e";
const SHAPE = JSON.stringify({ kind: "upright", height: 2, unit: "m", sensor_height: 2 });

for (const on of WAYS) {
  suite(`devices, on ${on}`, () => {
    const life = sharedLife();
    let way: Way;
    let service: Service;
    let key = "";

    before(async () => {
      way = await keeping(life, on, SMALL_FLEET);
      service = way.service ?? (await way.here.start());
      key = await makeKey(way.here, "--role", "manage");
    });

    async function send(path: string, body: object): Promise<string> {
      const headers = { "x-api-key": key, "content-type": "application/json" };
      const response = await fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return text;
    }

    const uplink = (distance: number, minute: number) => ({
      time: new Date(Date.UTC(2026, 1, 1, 0, minute)).toISOString(),
      deviceInfo: { devEui: EUI },
      object: { distance },
    });

    test("pending readings are listed with what they need, and stored once they have it", async () => {
      assert.match((await way.run(["device", "waiting"])).stderr, /No pending readings/);
      for (const minute of [1, 2, 3]) await send("/ingest/v1/chirpstack", uplink(500 * minute, minute));
      assert.match(await way.done("device", "waiting"), new RegExp(`^DEVICE .*\\n${EUI} +3 +0 +a tank +- +-\\n$`));

      assert.match(await way.done("device", "show", EUI), /^newest_waiting +\{"created_at":"2026-02-01T00:03.*distance/m);
      await refused(way, ["device", "assign", EUI, "a2", "--profile", "guesswork"], /--profile: .*"guesswork"/, 2);
      const { code, stderr } = await way.run(["device", "assign", EUI.toUpperCase(), "a2"]);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /assigned to tank a2, replacing device device-a2; 3 pending readings need a profile/);
      assert.match(
        (await way.run(["device", "profile", EUI, "milesight-em500-udl"])).stderr,
        /3 pending readings need the shape/,
      );

      const shape = ["tank", "update", "a2", "--shape", '{"kind":"upright","height":2,"unit":"m"}'];
      assert.match((await way.run(shape)).stderr, / updated; 3 pending readings need the sensor_height in the shape/);
      const [device] = await way.items("device", "assign", EUI, "a2", "--shape", SHAPE);
      const { since, ...rest } = device ?? {};
      assert.deepEqual(rest, {
        id: EUI,
        object: "device",
        tank_id: "a2",
        profile: "milesight-em500-udl",
        waiting: 0,
        dropped: 0,
        waits_because: null,
        newest_waiting: null,
        taken_in: { readings: 3, rejected: 0, from: "2026-02-01T00:01:00.000Z", to: "2026-02-01T00:03:00.000Z" },
        replaced_device_id: null,
      });
      const { data } = await list(service, "/v1/tanks/a2/telemetry", key);
      assert.deepEqual(
        data.map(({ fill_percentage }) => fill_percentage),
        [25, 50, 75],
      );
      assert.deepEqual(await way.items("device", "waiting"), []);
    });

    test("a custom profile is set and removed", async () => {
      const own = { value: "level", measures: "level", unit: "cm" };
      const [device] = await way.items("device", "profile", "device-b1", JSON.stringify(own));
      assert.equal((device?.["profile"] as Record<string, unknown> | undefined)?.["value"], "level");
      const [none] = await way.items("device", "profile", "device-b1", "");
      assert.equal(none?.["profile"], null);
      await refused(way, ["device", "profile", "device-b1", '{"value":"x"}'], /PROFILE \(measures\): is missing/, 2);
    });

    test("a device in use needs --swap, and cannot be forgotten", async () => {
      await refused(way, ["device", "assign", "device-b1", "a1"], /is assigned to tank b1.*--swap/);
      await way.done("device", "assign", "device-b1", "a1", "--swap");
      assert.match(await way.done("device", "show", "device-a1"), /^tank_id +b1$/m);
      await refused(way, ["device", "forget", "device-b1"], /assigned to tank a1/);
      await send("/ingest/v1/readings", { device_id: "stray", fill_percentage: 50 });
      assert.ok((await way.items("device", "list")).some(({ id }) => id === "stray"));
      assert.match((await way.run(["device", "forget", "stray"])).stderr, /forgotten; 1 pending reading removed\n/);
      assert.ok(!(await way.items("device", "list")).some(({ id }) => id === "stray"));
      await refused(way, ["device", "show", "stray"], /no such device: stray/);
    });

    test("a replaced device is forgotten, and late readings still reach its former tank", async () => {
      const tank = ["--owner", "bob", "--name", "C1", "--capacity", "1000", "--unit", "liters", "--threshold", "20"];
      await way.done("tank", "create", "--id", "c1", "--device", "device-c1", ...tank);
      for (const created_at of ["2026-02-02T00:00:00Z", "2026-02-03T00:00:00Z"]) {
        await send("/ingest/v1/readings", { device_id: "spare", created_at, fill_percentage: 50 });
      }
      assert.match(
        (await way.run(["device", "assign", "spare", "c1"])).stderr,
        /assigned to tank c1, replacing device device-c1; 2 pending readings stored, measured from 2026-02-02T00:00:00\.000Z to 2026-02-03/,
      );
      assert.match(
        (await way.run(["device", "forget", "device-c1"])).stderr,
        /forgotten; its service at tank c1 until 20.*stays recorded/,
      );
      await send("/ingest/v1/readings", { device_id: "device-c1", created_at: "2026-02-01T00:00:00Z", fill_percentage: 40 });
      const { total_items } = await list(service, "/v1/tanks/c1/telemetry?created_at_gte=2026-02-01", key);
      assert.equal(total_items, 3);
      assert.match((await way.run(["tank", "update", "c1", "--name", "New"])).stderr, / updated\n/);
      assert.match((await way.run(["tank", "update", "c1", "--name", "New"])).stderr, / unchanged\n/);
    });
  });
}
