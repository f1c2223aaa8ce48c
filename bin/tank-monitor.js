#!/usr/bin/env node
// Finds a Node that can run the program, and runs it. Plain JavaScript for any Node from 16 on, so that it can report what is
// missing.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The first version with BoundSocket, with which a process binds an address for others to listen on. */
const MIN_NODE_VERSION = [26, 4];
/** A smaller young generation saves about 15 MB; one V8 background thread instead of four leaves the cores to the service. */
const NODE_FLAGS = ["--max-semi-space-size=8", "--v8-pool-size=1"];
/** Threads of libuv, half of which may resolve host names at a time: by default two, so that slow names would hold up the database. */
const LIBUV_THREADS = "16";
const main = new URL("../src/main.ts", import.meta.url);

const [major, minor] = process.versions.node.split(".").map(Number);
if (major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])) {
  await runHere();
} else {
  runWith(bundledNode());
}

async function runHere() {
  process.env.UV_THREADPOOL_SIZE ??= LIBUV_THREADS;
  // Flags only take effect at the start of a process, so replace this one where the system supports it.
  if (process.execve !== undefined && !NODE_FLAGS.every((flag) => process.execArgv.includes(flag))) {
    process.execve(
      process.execPath,
      [process.execPath, ...NODE_FLAGS, ...process.execArgv, ...process.argv.slice(1)],
      process.env,
    );
  }
  const { enableCompileCache, getCompileCacheDir } = await import("node:module");
  // In our own folder: others could write to one in a shared /tmp.
  enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));
  // Threads find it through the environment; without it each loads the TypeScript stripper, about 25 MB. Undefined where the
  // folder cannot be written.
  const cache = getCompileCacheDir();
  if (cache !== undefined) process.env.NODE_COMPILE_CACHE = cache;
  const { runCommandLine } = await import(main.href);
  process.exitCode = await runCommandLine(process.argv.slice(2));
}

/** The Node binary that npm installed for this platform. */
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
    `tank-monitor: Node ${MIN_NODE_VERSION.join(".")} or newer is required; this is ${process.version}.\n` +
      `Run "npm ci" in the project's folder: it installs Node ${MIN_NODE_VERSION[0]} for Linux, macOS (x64, arm64) and Windows (x64).\n` +
      `On other systems install Node ${MIN_NODE_VERSION.join(".")} from https://nodejs.org and start again.\n`,
  );
  process.exit(1);
}

function runWith(node) {
  const child = spawn(node, [...NODE_FLAGS, fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  // Forwards signals sent to this process alone, each kind once: a second one could reach the program while it exits, when its
  // handlers are gone.
  const forwarded = new Set();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.on(signal, () => {
      if (!forwarded.has(signal)) child.kill(signal);
      forwarded.add(signal);
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
