// `npm ci --omit=dev` builds the dashboard and the client: what the builds need is among the dependencies.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Metafile } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
type Package = { readonly scripts: { readonly prepare: string }; readonly dependencies: Readonly<Record<string, string>> };
type Lock = { readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>> };
const read = (file: string): unknown => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
const { scripts, dependencies } = read("package.json") as Package;
const { packages } = read("package-lock.json") as Lock;

async function inputsOf(options: BuildOptions): Promise<Metafile["inputs"]> {
  const common = { absWorkingDir: ROOT, bundle: true, write: false, outdir: "dist", format: "esm" } as const;
  const { metafile } = await build({ ...common, ...options, metafile: true });
  return metafile.inputs;
}

const IN_PACKAGE = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//;

it("the dashboard imports only what npm installs without development dependencies", async () => {
  const inputs = await inputsOf({
    entryPoints: ["dashboard/src/main.tsx", "dashboard/src/styles.css", "client/src/index.ts"],
    loader: { ".svg": "empty", ".json": "empty" },
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  const imported = new Set<string>();
  for (const [file, { imports }] of Object.entries(inputs)) {
    const [, folder] = IN_PACKAGE.exec(file) ?? [];
    const installed = folder === undefined ? {} : packages[folder];
    assert.ok(installed !== undefined && !installed.dev && !installed.devOptional, `${file} is not installed`);
    const direct = folder === undefined ? imports.map(({ path }) => IN_PACKAGE.exec(path)?.[2]) : [];
    for (const name of direct) if (name !== undefined) imported.add(name);
  }
  assert.ok(imported.has("preact") && imported.has("uplot") && imported.has("world-atlas"), `${[...imported]}`);
  assert.deepEqual(
    [...imported].filter((name) => !(name in dependencies)),
    [],
  );
});

it("the programs that build are among the dependencies", async () => {
  assert.equal(scripts.prepare, "node dashboard/build.js");
  const inputs = await inputsOf({ entryPoints: ["dashboard/build.js"], packages: "external", platform: "node" });
  const imported = Object.values(inputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  const [program = ""] = (read("client/package.json") as Package).scripts.prepare.split(" ");
  const needed = [...imported.filter((name) => !name.startsWith("node:")), program];
  assert.deepEqual([...new Set(needed)], ["esbuild"]);
  assert.ok("esbuild" in dependencies);
});
