#!/usr/bin/env node
// Finds a Node that can run the program, and runs it. Plain JavaScript that any Node from 16 on understands: it must be
// able to say what is missing.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** From 26.4 on, a process can open an address and leave the listening to others. */
const NEEDED = [26, 4];
/**
 * A nursery half the usual size: some 15 MB less under load, and no slower. And one thread for the engine's own work, such as
 * the collection of garbage, instead of four: on a machine of few processors these take turns with those who answer.
 */
const SETTINGS = ["--max-semi-space-size=8", "--v8-pool-size=1"];
const main = new URL("../src/main.ts", import.meta.url);

const [major, minor] = process.versions.node.split(".").map(Number);
if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) {
  await runHere();
} else {
  runWith(bundledNode());
}

async function runHere() {
  // They can only be set at the start of a process, so this one is made anew, where the system can do that.
  if (process.execve !== undefined && !SETTINGS.every((setting) => process.execArgv.includes(setting))) {
    process.execve(process.execPath, [process.execPath, ...SETTINGS, ...process.execArgv, ...process.argv.slice(1)], process.env);
  }
  const { enableCompileCache, getCompileCacheDir } = await import("node:module");
  // In a folder of ours: one in a shared /tmp could be filled by somebody else.
  enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));
  // Threads look for it in the environment. Without it each of them loads the TypeScript stripper anew, some 25 MB. Where
  // the folder cannot be written there is no cache, and no folder to name.
  const cache = getCompileCacheDir();
  if (cache !== undefined) process.env.NODE_COMPILE_CACHE = cache;
  await import(main.href);
}

/** The Node that npm brought along for this platform. */
function bundledNode() {
  const name = process.platform === "win32" ? "win" : process.platform;
  const binary = process.platform === "win32" ? "bin/node.exe" : "bin/node";
  const require = createRequire(import.meta.url);
  for (const candidate of [`node-${name}-${process.arch}`, `node-bin-${name}-${process.arch}`]) {
    try {
      const path = join(dirname(require.resolve(`${candidate}/package.json`)), binary);
      if (existsSync(path)) return path;
    } catch {
      // Not the package of this platform.
    }
  }
  process.stderr.write(
    `tank-monitor: Node ${NEEDED.join(".")} or newer is needed, and this is ${process.version}.\n` +
      `Run "npm ci" in the project's folder: it brings Node ${NEEDED[0]} along for Linux, macOS (x64, arm64) and Windows (x64).\n` +
      `On other systems install Node ${NEEDED.join(".")} from https://nodejs.org and start again.\n`,
  );
  process.exit(1);
}

function runWith(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  // The terminal sends its signals to both of us; those sent to this process alone are passed on, each kind once: a second
  // one could reach the program in the moment of its end, when it can no longer be told that it changes nothing.
  const passed = new Set();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.on(signal, () => {
      if (!passed.has(signal)) child.kill(signal);
      passed.add(signal);
    });
  }
  child.on("error", (error) => {
    process.stderr.write(`tank-monitor: ${node} could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
