// Installs peers from the npm registry into the cache when they are first needed.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cacheFolder, log } from "../bench.ts";
import { output } from "../processes.ts";

/** Returns the folder. Install scripts are not run. */
export async function install(name: string, dependencies: Readonly<Record<string, string>>): Promise<string> {
  const folder = cacheFolder("packages", name);
  const manifest = JSON.stringify({ name: `bench-${name}`, private: true, type: "module", dependencies });
  const done = join(folder, "installed.json");
  if (existsSync(done) && readFileSync(done, "utf8") === manifest) return folder;
  log(`${Object.entries(dependencies).map((pair) => pair.join("@"))} is being installed from npm`);
  writeFileSync(join(folder, "package.json"), manifest);
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  await output(npm, ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"], { cwd: folder });
  writeFileSync(done, manifest);
  return folder;
}

export async function load<T>(folder: string, name: string): Promise<T> {
  const file = createRequire(join(folder, "package.json")).resolve(name);
  return (await import(pathToFileURL(file).href)) as T;
}
