// Runs command lines one after the other in one process, for tests that look at what a command prints and does: starting a
// process for each would cost far more than the commands. Started by program.ts, which sends the requests.

import { Writable } from "node:stream";
import { runCommandLine } from "../../src/main.ts";

export type CommandRequest = { readonly words: readonly string[]; readonly cwd: string; readonly env: Record<string, string> };
export type CommandResponse = { readonly code: number; readonly stdout: string; readonly stderr: string };

function capture(name: "stdout" | "stderr"): () => string {
  let text = "";
  const write = (chunk: Buffer, _: string, done: () => void): void => {
    text += chunk;
    done();
  };
  Object.defineProperty(process, name, { configurable: true, value: new Writable({ write }) });
  return () => text;
}

async function execute({ words, cwd, env }: CommandRequest): Promise<CommandResponse> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name];
  Object.assign(process.env, env);
  const [stdout, stderr] = [capture("stdout"), capture("stderr")];
  const code = await runCommandLine(words);
  for (const signal of ["SIGINT", "SIGTERM"]) process.removeAllListeners(signal);
  return { code, stdout: stdout(), stderr: stderr() };
}

process.on("disconnect", () => process.exit());
process.on("message", async (request: CommandRequest) => process.send?.(await execute(request)));
