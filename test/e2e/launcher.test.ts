// The launcher, started by a Node that is too old for the program: one from PATH if there is one, else this one with another
// version number.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join, sep } from "node:path";
import { suite, test } from "node:test";
import { ndjson, SMALL_FLEET } from "./fixtures.ts";
import { LAUNCHER, ROOT, workspace } from "./program.ts";
import { get } from "./requests.ts";

const FAKE_VERSION = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } });
Object.defineProperty(process, "version", { value: "v20.0.0" });`;

function olderNode(): readonly [string, ...string[]] {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    if (folder.split(sep).includes("node_modules")) continue;
    try {
      const node = realpathSync(join(folder, process.platform === "win32" ? "node.exe" : "node"));
      const version = execFileSync(node, ["--version"], { encoding: "utf8" });
      if (!node.split(sep).includes("node_modules") && Number(/^v(\d+)/.exec(version)?.[1]) < 26) return [node];
    } catch {
      // No Node in this folder.
    }
  }
  return [process.execPath, "--import", `data:text/javascript,${encodeURIComponent(FAKE_VERSION)}`];
}

const older = olderNode();
const program = [...older, LAUNCHER] as const;

suite("the launcher", { concurrency: 2 }, () => {
  test("started by an older Node, the program runs with the same arguments, stdin, stdout and exit code", async (t) => {
    t.diagnostic(`the older Node is ${older.length === 1 ? "installed" : "simulated"}`);
    const here = workspace(t);
    const { code, stdout, stderr } = await here.spawn(["import", "-", "--json"], {
      program,
      input: `${ndjson(SMALL_FLEET)}{}\n`,
    });
    assert.equal(stdout, '{"read":12,"new":11,"changed":0,"unchanged":0,"rejected":1,"pending":0,"assumed_utc":0}\n');
    assert.equal(code, 1);
    assert.match(stderr, /^A new database was created: .*\nstdin:12: .*"object".*\n/);
  });

  test("started by an older Node, SIGTERM stops the service, also when sent twice", async (t) => {
    const service = await workspace(t).start(["serve"], { program });
    assert.equal((await get(service, "/readyz")).status, 200);
    service.kill("SIGTERM");
    service.kill("SIGTERM");
    const { code, stderr } = await service.exited;
    assert.equal(code, 0);
    assert.match(stderr, /"event":"stopped"/);
    await assert.rejects(get(service, "/readyz"));
  });

  test("without a Node that is new enough, the launcher prints advice: exit 1", async (t) => {
    const here = workspace(t);
    cpSync(join(ROOT, "bin"), here.path("bin"), { recursive: true });
    cpSync(join(ROOT, "package.json"), here.path("package.json"));
    const { code, stdout, stderr } = await here.spawn(["serve"], { program: [...older, here.path("bin/tank-monitor.js")] });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^tank-monitor: Node 26\.4 or newer is required; this is v\d+\.\d+\.\d+\.\n/);
    assert.match(stderr, /npm ci/);
    assert.doesNotMatch(stderr, /^\s+at /m);
  });

  test("if its cache cannot be written, the program runs without one, and leaves nothing else behind", async (t) => {
    const here = workspace(t);
    for (const part of ["bin", "src", "package.json"]) cpSync(join(ROOT, part), here.path(`copy/${part}`), { recursive: true });
    mkdirSync(here.path("copy/node_modules"));
    for (const name of readdirSync(join(ROOT, "node_modules")).filter((entry) => entry !== ".cache")) {
      symlinkSync(join(ROOT, "node_modules", name), here.path(`copy/node_modules/${name}`));
    }
    writeFileSync(here.path("copy/node_modules/.cache"), "a file where a folder should be");
    const { code } = await here.spawn(["key", "create", "--name", "x"], {
      program: [process.execPath, here.path("copy/bin/tank-monitor.js")],
    });
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(here.folder).sort(), ["copy", "tanks.db"]);
  });

  test("npx tank-monitor in the project's folder runs this program", async (t) => {
    const npx = process.platform === "win32" ? "npx.cmd" : "npx";
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    const { code, stdout } = await workspace(t).spawn(["--version"], { program: [npx, "--no", "--", "tank-monitor"], cwd: ROOT });
    assert.deepEqual([code, stdout], [0, `${version}\n`]);
  });
});
