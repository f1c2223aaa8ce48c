// The package: small, without parts of Node, and with JavaScript and types that others can use.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAX_BYTES = 10_000;
const run = promisify(execFile);

it(`is smaller than ${MAX_BYTES} bytes compressed, and runs in browsers`, async () => {
  const entryPoints = [join(ROOT, "client/src/index.ts")];
  // For browsers, an import of a part of Node is an error.
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  const bytes = brotliCompressSync(outputFiles[0]?.contents ?? "").length;
  assert.ok(bytes > 1000 && bytes < MAX_BYTES, `${bytes} bytes`);
});

/** The Node that runs npm, which may be the oldest that the client supports. Undefined where the tests do not run by npm. */
const NPM_NODE = process.env["npm_node_execpath"];
const OLDEST = 20;

/** A folder in which the package is installed, as npm packs it. */
async function installed(): Promise<{ readonly folder: string; readonly place: string }> {
  const folder = temporaryFolder({ after });
  const environment = { ...process.env, npm_config_update_notifier: "false" };
  await run("npm", ["pack", "--silent", "-w", "client", "--pack-destination", folder], { cwd: ROOT, env: environment });
  const [archive = ""] = readdirSync(folder);
  const place = join(folder, "node_modules/@tank-monitor/client");
  mkdirSync(place, { recursive: true });
  await run("tar", ["-xzf", join(folder, archive), "-C", place, "--strip-components=1"]);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return { folder, place };
}

describe("the package", async () => {
  const { folder, place } = await installed();
  const service = await startService({ after });

  it("has JavaScript, types and no dependencies, and is used by TypeScript", async () => {
    assert.deepEqual(readdirSync(place).sort(), ["README.md", "dist", "package.json"]);
    assert.deepEqual(JSON.parse(readFileSync(join(place, "package.json"), "utf8")).dependencies ?? {}, {});
    const program = `
    import { ApiError, createClient, type Tank } from "@tank-monitor/client";
    const client = createClient({ baseUrl: ${JSON.stringify(service.url)}, key: ${JSON.stringify(await service.key())} });
    const tanks: Tank[] = [];
    for await (const tank of client.tanks.list()) tanks.push(tank);
    const error: unknown = await client.tanks.retrieve("none").catch((reason: unknown) => reason);
    if (!(error instanceof ApiError) || error.code !== "tank_unknown") throw error;
    // @ts-expect-error: there is no such parameter
    client.tanks.list({ sise: 1 });
    // @ts-expect-error: it may be a deleted tank, which has no name
    void client.tanks.retrieve("none").then((tank) => tank.name).catch(() => {});
    console.log(tanks.length, error.status);
  `;
    writeFileSync(join(folder, "program.ts"), program);
    const { stdout } = await run(process.execPath, ["program.ts"], { cwd: folder });
    assert.equal(stdout, "0 404\n");

    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    for (const resolution of ["nodenext", "bundler"]) {
      const modules = ["--module", resolution === "nodenext" ? "nodenext" : "esnext", "--moduleResolution", resolution];
      const flags = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom", ...modules];
      await run(process.execPath, [compiler, ...flags, "program.ts"], { cwd: folder }).catch(({ stdout: errors }) =>
        assert.fail(errors),
      );
    }
  });

  it(`works in JavaScript on the Node that runs npm, from ${OLDEST} on`, async (t) => {
    const version = NPM_NODE === undefined ? "" : (await run(NPM_NODE, ["--version"])).stdout.trim();
    if (NPM_NODE === undefined || Number(/\d+/.exec(version)) < OLDEST) return t.skip("no such Node runs npm");
    t.diagnostic(version);
    const key = await service.key({ role: "manage" });
    const program = `
      import { ApiError, createClient } from "@tank-monitor/client";
      const client = createClient({ baseUrl: ${JSON.stringify(service.url)}, key: ${JSON.stringify(key)} });
      const owner = await client.manage.customers.create({ name: "Brenner Gas GmbH", email: "office@brenner.example" });
      const fields = { name: "Hall 3", capacity: 2700, capacity_unit: "liters", min_fill_alert_percentage: 20 };
      const tank = await client.manage.tanks.create({ ...fields, owner_id: owner.id, assigned_device_id: "sensor-1" });
      const created_at = ["2026-11-14T06:00:00.000Z", "2026-11-14T12:00:00.000Z"];
      await client.ingest.readings(created_at.map((at, i) => ({ tank_id: tank.id, created_at: at, fill_percentage: 18.5 - i })));
      const levels = [];
      for await (const { fill_percentage } of client.tanks.telemetry(tank.id, { size: 1 })) levels.push(fill_percentage);
      await client.manage.tanks.update(tank.id, { name: "Hall 4" }, { ifMatch: tank });
      const codeOf = (reason) => (reason instanceof ApiError ? reason.code : String(reason));
      const codes = [
        await client.manage.tanks.update(tank.id, { name: "Hall 5" }, { ifMatch: tank }).catch(codeOf),
        await client.tanks.retrieve("none").catch(codeOf),
        await client.tanks.list({ signal: AbortSignal.abort() }).catch((reason) => reason.name),
      ];
      console.log(JSON.stringify([levels, codes]));
    `;
    writeFileSync(join(folder, "program.js"), program);
    const { stdout } = await run(NPM_NODE, ["program.js"], { cwd: folder });
    assert.deepEqual(JSON.parse(stdout), [
      [17.5, 18.5],
      ["precondition_failed", "tank_unknown", "AbortError"],
    ]);
  });
});
