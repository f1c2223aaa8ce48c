// Devices, their pending readings, and the audit log on the command line.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { expectStatus } from "../http/client.ts";
import { Browser, tokenIn } from "../support/browser.ts";
import { cliOnService, SMALL_FLEET } from "./fixtures.ts";
import { list } from "./requests.ts";

const EUI = "a84041c2f1827d3e";
const SHAPE = JSON.stringify({ kind: "upright", height: 2, unit: "m", sensor_height: 2 });

const cli = await cliOnService({ after }, SMALL_FLEET);

suite("devices, on a running service", () => {
  async function send(path: string, body: object): Promise<string> {
    const headers = { "x-api-key": cli.key, "content-type": "application/json" };
    const response = await fetch(`${cli.service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
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
    assert.match((await cli.run(["device", "pending"])).stderr, /No pending readings/);
    for (const minute of [1, 2, 3]) await send("/ingest/v1/chirpstack", uplink(500 * minute, minute));
    assert.match(await cli.output("device", "pending"), new RegExp(`^DEVICE .*\\n${EUI} +3 +0 +a tank +- +-\\n$`));

    assert.match(await cli.output("device", "show", EUI), /^newest_pending +\{"created_at":"2026-02-01T00:03.*distance/m);
    await cli.expectFailure(["device", "assign", EUI, "a2", "--profile", "guesswork"], /--profile: .*"guesswork"/, 2);
    const { code, stderr } = await cli.run(["device", "assign", EUI.toUpperCase(), "a2"]);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /assigned to tank a2, replacing device device-a2, which is now assigned to no tank; 3 pending readings need a profile/,
    );
    assert.match((await cli.run(["device", "profile", EUI, "milesight-em500-udl"])).stderr, /3 pending readings need the shape/);

    const shape = ["tank", "update", "a2", "--shape", '{"kind":"upright","height":2,"unit":"m"}'];
    assert.match(
      (await cli.run(shape)).stderr,
      / updated: shape null → \{.*\}; 3 pending readings need the sensor_height in the shape/,
    );
    const [device] = await cli.items("device", "assign", EUI, "a2", "--shape", SHAPE);
    const { since, ...rest } = device ?? {};
    assert.deepEqual(rest, {
      id: EUI,
      object: "device",
      tank_id: "a2",
      profile: "milesight-em500-udl",
      pending: 0,
      dropped: 0,
      pending_reason: null,
      newest_pending: null,
      released: { readings: 3, rejected: 0, from: "2026-02-01T00:01:00.000Z", to: "2026-02-01T00:03:00.000Z" },
      replaced_device_id: null,
    });
    const { data } = await list(cli.service, "/v1/tanks/a2/telemetry", cli.key);
    assert.deepEqual(
      data.map(({ fill_percentage }) => fill_percentage),
      [25, 50, 75],
    );
    assert.deepEqual(await cli.items("device", "pending"), []);
  });

  test("a custom profile is set and removed", async () => {
    const own = { value: "level", measures: "level", unit: "cm" };
    const [device] = await cli.items("device", "profile", "device-b1", JSON.stringify(own));
    assert.equal((device?.["profile"] as Record<string, unknown> | undefined)?.["value"], "level");
    const [none] = await cli.items("device", "profile", "device-b1", "");
    assert.equal(none?.["profile"], null);
    await cli.expectFailure(["device", "profile", "device-b1", '{"value":"x"}'], /PROFILE \(measures\): is missing/, 2);
  });

  test("a device in use needs --swap, and cannot be removed", async () => {
    await cli.expectFailure(["device", "assign", "device-b1", "a1"], /is assigned to tank b1.*--swap/);
    const { stderr: swapped } = await cli.run(["device", "assign", "device-b1", "a1", "--swap", "--profile", "elsys"]);
    const both = "device device-b1 assigned to tank a1, replacing device device-a1, which is now assigned to tank b1";
    assert.equal(swapped, `${both}; it uses the profile elsys\n`);
    assert.match(await cli.output("device", "list"), /^DEVICE +PROFILE +PENDING +ASSIGNED SINCE +TANK$/m);
    assert.match(await cli.output("device", "show", "device-a1"), /^tank_id +b1$/m);
    await cli.expectFailure(["device", "remove", "device-b1"], /assigned to tank a1/);
    await send("/ingest/v1/readings", { device_id: "stray", fill_percentage: 50 });
    assert.ok((await cli.items("device", "list")).some(({ id }) => id === "stray"));
    assert.match((await cli.run(["device", "remove", "stray"])).stderr, /stray removed; 1 pending reading removed\n/);
    assert.ok(!(await cli.items("device", "list")).some(({ id }) => id === "stray"));
    await cli.expectFailure(["device", "show", "stray"], /no such device: stray/);
  });

  test("a replaced device is removed, and its past assignment is kept", async () => {
    for (const day of ["02", "03"]) {
      await send("/ingest/v1/readings", { device_id: "spare", created_at: `2026-02-${day}T00:00:00Z`, fill_percentage: 50 });
    }
    assert.match(
      (await cli.run(["device", "assign", "spare", "b1"])).stderr,
      /assigned to tank b1, replacing device device-a1, which is now assigned to no tank; 2 pending readings stored, measured from 2026-02-02T00:00:00\.000Z to 2026-02-03/,
    );
    const { stderr } = await cli.run(["device", "remove", "device-a1"]);
    assert.match(stderr, /device-a1 removed; its assignment to tank b1 until 20.* is kept/);
    assert.match((await cli.run(["tank", "update", "b1", "--name", "New"])).stderr, / updated: name "Tank b1" → "New"\n/);
    assert.match((await cli.run(["tank", "update", "b1", "--name", "New"])).stderr, / unchanged\n/);
  });
});

suite("the audit log", () => {
  test("shows who did it, the id of the key or the command line, and from what to what; it has no secret", async () => {
    await cli.output("tank", "update", "a1", "--threshold", "35");
    await cli.workspace.run(["customer", "update", "ada", "--phone", ""]);
    const secret = (await cli.output("key", "create", "--name", "secret one")).trim();
    const [created, changed, first] = await cli.items("audit", "--limit", "3");
    const [key] = (await cli.items("key", "list")).filter(({ role }) => role === "manage");
    assert.deepEqual([created?.["type"], created?.["action"], created?.["by"]], ["key", "created", key?.["id"]]);
    assert.deepEqual([changed?.["type"], changed?.["by"], changed?.["id"]], ["customer", "command line", "ada"]);
    assert.deepEqual(changed?.["changes"], { phone: { from: "+43 1 234", to: null } });
    assert.deepEqual(first?.["changes"], { min_fill_alert_percentage: { from: 20, to: 35 } });
    const table = await cli.output("audit", "--id", "a1", "--limit", "1");
    assert.match(
      table,
      /^WHEN +BY +ACTION +TYPE +ID +CHANGES\n\S+Z +key_\w+ \(\w+[^)]*\) +changed +tank +a1 +min_fill_alert_percentage 20 → 35\n$/,
    );
    const all = `${await cli.output("audit")}${await cli.output("audit", "--json")}`;
    assert.ok(all.includes("secret one"));
    assert.ok(!all.includes(secret.slice(3)) && !all.includes("tm_"));
  });

  test("is searched by who, by what and by when", async () => {
    const byCommandLine = await cli.items("audit", "--by", "command line", "--type", "customer", "--since", "1h");
    assert.deepEqual(
      byCommandLine.filter(({ action }) => action === "changed").map(({ id }) => id),
      ["ada"],
    );
    assert.deepEqual(await cli.items("audit", "--until", "2020-01-01"), []);
    const today = new Date().toISOString().slice(0, 10);
    assert.deepEqual(await cli.items("audit", "--since", today, "--until", today), [], "a date means its start");
    const malformed = await cli.run(["audit", "--until", "yesterday"]);
    assert.match(malformed.stderr, /--until must be a datetime .*, a date such as 2026-11-14 \(its start, midnight UTC\), or/);
    assert.match((await cli.run(["audit", "--help"])).stdout.replaceAll(/\s+/g, " "), /the day itself is not included/);
    assert.ok((await cli.items("audit", "--since", today)).length > 0);
    assert.match((await cli.run(["audit", "--since", "1s", "--id", "nothing"])).stderr, /No changes found/);
    const [key] = (await cli.items("key", "list")).filter(({ role }) => role === "manage");
    const byName = await cli.items("audit", "--by", String(key?.["name"]));
    assert.deepEqual(byName, await cli.items("audit", "--by", String(key?.["id"])));
    assert.ok(byName.length > 0);
    assert.match((await cli.run(["audit", "--by", "nobody"])).stderr, /No changes found. No key or user is called "nobody"/);
    assert.ok((await cli.items("audit", "--id", "A84041C2F1827D3E", "--type", "device")).length > 0);
    assert.match((await cli.run(["audit", "--id", "A84041C2F1827D3E"])).stderr, /lower case: --id a84041c2f1827d3e/);
  });
  test("has what users did, by their address or id", async () => {
    await cli.output("user", "create", "--email", "eva@operator.example", "--name", "Eva", "--role", "admin");
    const browser = new Browser(cli.service);
    await browser.signInWith(tokenIn(await cli.output("user", "link", "eva@operator.example")));
    expectStatus(await browser.send("PATCH", "/manage/v1/tanks/a2", { min_fill_alert_percentage: 33 }), 200);
    const [change, ...others] = await cli.items("audit", "--by", "eva@operator.example", "--type", "tank");
    assert.deepEqual([change?.["id"], others], ["a2", []]);
    assert.deepEqual(await cli.items("audit", "--by", String(change?.["by"]), "--type", "tank"), [change]);
    assert.match(await cli.output("audit", "--id", "a2", "--limit", "1"), /usr_\w+ \(eva@operator.example\)/);
  });
});
