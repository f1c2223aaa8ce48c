// The simulator and the service, as two programs.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import { createKey } from "./fixtures.ts";
import { workspace } from "./program.ts";
import { list, logEvents } from "./requests.ts";

type Summary = Readonly<Record<string, number>> & { readonly verification: Readonly<Record<string, unknown>> };

const summaryOf = (stdout: string): Summary => JSON.parse(stdout) as Summary;

const here = workspace({ after });
let service = await here.start(["serve", "--mqtt", "0"]);
const manage = await createKey(here, "--role", "manage");
const ingest = await createKey(here, "--role", "ingest");
const keys = { env: { TANK_MONITOR_KEY: ingest, TANK_MONITOR_MANAGE_KEY: manage } };

suite("simulate", () => {
  const ingestRequests = () => logEvents(service, "request").filter(({ route }) => route === "/ingest/v1/readings").length;

  /** Starts the simulator, and waits until readings arrive. */
  async function simulating<Started>(start: () => Started): Promise<{ readonly started: Started }> {
    const before = ingestRequests();
    const started = start();
    await until("readings arrive", () => ingestRequests() > before + 5, 30_000);
    return { started };
  }
  const launch =
    (...words: readonly string[]) =>
    () =>
      here.launch(["simulate", "--url", service.url, ...words], keys);

  test("over HTTP: tanks are registered, readings stored and verified, and the summary is JSON", async () => {
    const words = ["simulate", "--url", service.url, "--tanks", "14", "--rate", "100", "--duration", "1s", "--verify", "--json"];
    const { code, stdout, stderr } = await here.run(words, keys);
    assert.equal(code, 0, stderr);
    const { measured = 0, stored, duplicate = 0, sent, rejected, undelivered, verification } = summaryOf(stdout);
    assert.ok(measured > 25 && measured <= 200, `${measured} readings in a second`);
    assert.deepEqual([stored, rejected, undelivered, sent], [measured, 0, 0, measured + duplicate]);
    assert.deepEqual(verification, { tanks: 14, readings: measured, missing: 0, different: 0, unexpected: 0, differences: [] });
    assert.equal((await list(service, "/v1/tanks", manage)).total_items, 14);
    assert.match(stderr, /14 devices send 100 readings per second over HTTP/);
    assert.ok(!stdout.includes(manage) && !stderr.includes(manage) && !stderr.includes(ingest));
  });

  test("over MQTT, with the service's own endpoint", async () => {
    const [, broker = ""] = await service.waitForOutput(/"event":"mqtt_listening","url":"([^"]+)"/);
    const words = ["simulate", "--mqtt", broker, "--url", service.url, "--rate", "50", "--duration", "1s", "--verify", "--json"];
    const { code, stdout, stderr } = await here.run([...words, "--seed", "over-mqtt"], keys);
    assert.equal(code, 0, stderr);
    const { measured, acknowledged, sent, verification } = summaryOf(stdout);
    assert.deepEqual([acknowledged, verification["readings"]], [sent, measured]);
    assert.ok(!stdout.includes("stored"), "acknowledgements do not say what was stored");
    const keyless = await here.run(["simulate", "--mqtt", broker, "--duration", "1s"]);
    assert.deepEqual([keyless.code, keyless.stdout], [1, ""]);
    assert.match(keyless.stderr, /the broker requires a key: set --key or TANK_MONITOR_KEY/);
  });

  test("with an ingest key alone readings are pending, which is no failure; Ctrl-C ends it with a summary", async () => {
    const { started: program } = await simulating(launch("--rate", "50", "--seed", "pending", "--manage-key", ""));
    const signalled = performance.now();
    program.kill("SIGINT");
    const { code, stdout, stderr } = await program.exited;
    assert.equal(code, 0, stderr);
    const milliseconds = performance.now() - signalled;
    assert.ok(milliseconds < 3000, `${milliseconds} ms`);
    assert.match(stderr, /tanks are not registered/);
    const counts = /^\d+ measured, \d+ sent, 0 resent, \d+ acknowledged, 0 stored, 0 duplicate, 0 replaced, [1-9]\d* pending/;
    assert.match(stdout, counts);
    assert.match(stdout, / 0 undelivered\n$/);
  });

  test("a service that is killed and restarted: nothing acknowledged is lost, and nothing stored twice", async () => {
    const { port } = new URL(service.url);
    const words = ["--rate", "200", "--duration", "2s", "--verify", "--json", "--seed", "killed"];
    const { started: simulation } = await simulating(() => here.run(["simulate", "--url", service.url, ...words], keys));
    service.kill("SIGKILL");
    await service.exited;
    service = await here.start(["serve", "--port", port]);
    const { code, stdout, stderr } = await simulation;
    assert.equal(code, 0, stderr + stdout);
    const { measured, resent = 0, verification } = summaryOf(stdout);
    assert.ok(resent > 0, "requests failed when it was killed");
    assert.equal(verification["readings"], measured);
  });

  test("a key or an address with an error is one line, exit 1", async () => {
    const url = ["--url", service.url];
    const calls: readonly (readonly [words: readonly string[], message: RegExp])[] = [
      [[...url, "--key", "nonsense"], /401/],
      [[...url, "--manage-key", ingest], /manage/],
      [[...url, "--key", ingest, "--verify"], /--read-key/],
      [["--url", `http://127.0.0.1:${await freePort()}`, "--key", ingest], /connection refused/],
      [["--url", service.url.replace("http:", "https:"), "--key", ingest], /does not use TLS\. Is it http:/],
      [["--mqtt", service.url.replace("http:", "mqtt:"), "--key", ingest], /something other than an MQTT broker listens there/],
      [["--mqtt", "mqtt://127.0.0.1:1", "--manage-key", manage], /^No --url: tanks are not registered/],
      [["--mqtt", "mqtt://127.0.0.1:1", "--key", ingest], /broker cannot be reached/],
    ];
    for (const [words, message] of calls) {
      const { code, stdout, stderr } = await here.run(["simulate", ...words]);
      assert.deepEqual([code, stdout], [1, ""], `${words.join(" ")}: ${stderr}`);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /internal error/);
    }
  });

  test("a service that remains unreachable: undelivered readings are reported, exit 1", async () => {
    const { started: program } = await simulating(launch("--rate", "100", "--json"));
    await service.stop();
    // Ten readings at this rate.
    await pause(100);
    // The first signal stops measuring, the second one delivery.
    program.kill("SIGINT");
    program.kill("SIGTERM");
    const { code, stdout } = await program.exited;
    assert.equal(code, 1);
    assert.ok((summaryOf(stdout)["undelivered"] ?? 0) > 0);
  });
});
