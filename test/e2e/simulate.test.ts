// The simulator and the service, as two programs.

import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { list } from "./ask.ts";
import { makeKey } from "./fleet.ts";
import { type Home, home, type Service } from "./program.ts";

type Keys = { readonly manage: string; readonly ingest: string };

async function running(here: Home, words: readonly string[] = []): Promise<Service & Keys> {
  const service = await here.start(["serve", ...words]);
  const [manage, ingest] = [await makeKey(here, "--role", "manage"), await makeKey(here, "--role", "ingest")];
  return { ...service, manage, ingest };
}

const env = ({ manage, ingest }: Keys) => ({ env: { TANK_MONITOR_KEY: ingest, TANK_MONITOR_MANAGE_KEY: manage } });

test("over HTTP: tanks are registered, readings stored and verified, and the summary is JSON", async (t) => {
  const here = home(t);
  const service = await running(here);
  const words = ["simulate", "--url", service.url, "--tanks", "14", "--rate", "100", "--duration", "3s", "--verify", "--json"];
  const { code, stdout, stderr } = await here.run(words, env(service));
  assert.equal(code, 0, stderr);
  const summary = JSON.parse(stdout) as Record<string, number> & { verification: Record<string, unknown> };
  const { measured = 0, stored, duplicate = 0, sent, rejected, undelivered, verification } = summary;
  assert.ok(measured > 100 && measured <= 600, `${measured} readings in three seconds`);
  assert.deepEqual([stored, rejected, undelivered, sent], [measured, 0, 0, measured + duplicate]);
  assert.deepEqual(verification, { tanks: 14, readings: measured, missing: 0, different: 0, strange: 0, faults: [] });
  assert.equal((await list(service, "/v1/tanks", service.manage)).total_items, 14);
  assert.match(stderr, /14 devices send 100 readings per second over HTTP/);
  assert.ok(!stdout.includes(service.manage) && !stderr.includes(service.manage) && !stderr.includes(service.ingest));
});

test("over MQTT, with the service's own broker", async (t) => {
  const here = home(t);
  const service = await running(here, ["--mqtt", "0"]);
  const [, broker = ""] = await service.said(/"event":"mqtt_listening","url":"([^"]+)"/);
  const words = ["simulate", "--mqtt", broker, "--url", service.url, "--rate", "50", "--duration", "2s", "--verify", "--json"];
  const { code, stdout, stderr } = await here.run(words, env(service));
  assert.equal(code, 0, stderr);
  const { measured, acknowledged, sent, verification } = JSON.parse(stdout) as Record<string, number> & {
    verification: { readings: number };
  };
  assert.deepEqual([acknowledged, verification.readings], [sent, measured]);
  assert.ok(!stdout.includes("stored"), "a broker does not say what became of them");
  const keyless = await here.run(["simulate", "--mqtt", broker, "--duration", "1s"]);
  assert.deepEqual([keyless.code, keyless.stdout], [1, ""]);
  assert.match(keyless.stderr, /the broker requires a key: set --key or TANK_MONITOR_KEY/);
});

test("with an ingest key alone readings wait, which is said and is no failure", async (t) => {
  const here = home(t);
  const service = await running(here);
  const words = ["simulate", "--url", service.url, "--key", service.ingest, "--duration", "1s", "--rate", "20"];
  const { code, stdout, stderr } = await here.run(words);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /tanks are not registered/);
  assert.match(
    stdout,
    /^\d+ measured, \d+ sent, 0 resent, \d+ acknowledged, 0 stored, 0 duplicate, 0 replaced, [1-9]\d* waiting/,
  );
});

test("Ctrl-C ends it with a summary of what is safe", async (t) => {
  const here = home(t);
  const service = await running(here);
  const simulating = here.launch(["simulate", "--url", service.url], env(service));
  await simulating.said(/devices send/);
  await pause(1200);
  const signalled = performance.now();
  simulating.kill("SIGINT");
  const { code, stdout, stderr } = await simulating.ended;
  assert.equal(code, 0, stderr);
  assert.ok(performance.now() - signalled < 3000);
  assert.match(stdout, /^[1-9]\d* measured, .* 0 undelivered\n$/);
});

test("a service that is killed and started again: nothing acknowledged is lost, nothing is there twice", async (t) => {
  const here = home(t);
  const service = await running(here);
  const { port } = new URL(service.url);
  const words = ["simulate", "--url", service.url, "--rate", "200", "--duration", "5s", "--verify", "--json"];
  const simulating = here.launch(words, env(service));
  await simulating.said(/devices send/);
  await pause(1500);
  service.kill("SIGKILL");
  await service.ended;
  await here.start(["serve", "--port", port]);
  const { code, stdout, stderr } = await simulating.ended;
  assert.equal(code, 0, stderr + stdout);
  const {
    measured,
    resent = 0,
    verification,
  } = JSON.parse(stdout) as Record<string, number> & {
    verification: { readings: number };
  };
  assert.ok(resent > 0, "some were under way when it was killed");
  assert.equal(verification.readings, measured);
});

test("a service that goes away for good: what could not be delivered is told, with exit 1", async (t) => {
  const here = home(t);
  const service = await running(here);
  const simulating = here.launch(["simulate", "--url", service.url, "--rate", "20", "--json"], env(service));
  await simulating.said(/devices send/);
  await service.stop();
  await pause(500);
  simulating.kill("SIGINT");
  await pause(300);
  simulating.kill("SIGINT");
  const { code, stdout } = await simulating.ended;
  assert.equal(code, 1);
  const { undelivered = 0 } = JSON.parse(stdout) as Record<string, number>;
  assert.ok(undelivered > 0);
});

test("calls that cannot be meant: one line, and the right exit code", async (t) => {
  const here = home(t);
  const service = await running(here);
  const url = ["--url", service.url];
  const calls: readonly (readonly [words: readonly string[], code: number, says: RegExp])[] = [
    [[], 2, /--url.*--mqtt/],
    [url, 2, /key.*TANK_MONITOR_KEY/],
    [["--url", "nowhere", "--key", "x"], 2, /--url/],
    [["--mqtt", "http://127.0.0.1", "--key", "x"], 2, /--mqtt/],
    [[...url, "--key", "x", "--tanks", "many"], 2, /--tanks.*"many"/],
    [[...url, "--key", "x", "--tanks", "1.5"], 2, /--tanks/],
    [[...url, "--key", "x", "--rate", "0"], 2, /--rate/],
    [[...url, "--key", "x", "--rate", "5001"], 2, /--rate.*500 for each tank/],
    [[...url, "--key", "x", "--duration", "long"], 2, /--duration/],
    [[...url, "--key", "x", "--duration", "30d"], 2, /--duration.*24d/],
    [[...url, "--key", "x", "--makers", "dragio"], 2, /"dragio".*dragino/],
    [["--mqtt", "mqtt://127.0.0.1:1", "--key", "x", "--verify"], 2, /--url/],
    [[...url, "--key", "x", "--rate", "5000", "--duration", "1d", "--verify"], 2, /5000000/],
    [[...url, "--key", "nonsense"], 1, /401/],
    [[...url, "--manage-key", service.ingest], 1, /manage/],
    [[...url, "--key", service.ingest, "--verify"], 1, /--read-key/],
    [["--url", "http://127.0.0.1:1", "--key", service.ingest], 1, /nothing listens/],
    [["--mqtt", "mqtt://127.0.0.1:1", "--key", service.ingest], 1, /broker cannot be reached/],
  ];
  for (const [words, exitCode, says] of calls) {
    const { code, stdout, stderr } = await here.run(["simulate", ...words]);
    assert.deepEqual([code, stdout], [exitCode, ""], `${words.join(" ")}: ${stderr}`);
    assert.match(stderr, says);
    assert.doesNotMatch(stderr, /should not have happened/);
  }
});
