// The package: small, without parts of Node, and with JavaScript and types that others can use.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { startService, temporaryFolder } from "../support/service.ts";

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

it("can be packed, and used by JavaScript and by TypeScript", async () => {
  const folder = temporaryFolder({ after });
  const environment = { ...process.env, npm_config_update_notifier: "false" };
  await run("npm", ["pack", "--silent", "-w", "client", "--pack-destination", folder], { cwd: ROOT, env: environment });
  const [archive = ""] = readdirSync(folder);
  const place = join(folder, "node_modules/@tank-monitor/client");
  mkdirSync(place, { recursive: true });
  await run("tar", ["-xzf", join(folder, archive), "-C", place, "--strip-components=1"]);
  assert.deepEqual(readdirSync(place).sort(), ["README.md", "dist", "package.json"]);
  assert.deepEqual(JSON.parse(readFileSync(join(place, "package.json"), "utf8")).dependencies ?? {}, {});

  const service = await startService({ after });
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
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
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
