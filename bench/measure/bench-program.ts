// Programs of bench/programs that run many times. Each run is prepared first and started on request, so that neither loading
// the program nor creating its data is measured.

import { once } from "node:events";
import { program } from "../contestants/program.ts";
import { start, stop } from "../processes.ts";

export type BenchProgram<Task, Result> = AsyncDisposable & {
  /** Resolves when the run is prepared, with a function that starts it. */
  readonly prepare: (task: Task) => Promise<() => Promise<Result>>;
  readonly run: (task: Task) => Promise<Result>;
};

const START = "start";

type Reply<Result> = "ready" | { readonly result: Result } | { readonly failed: string };

/** One run at a time. */
export async function startBenchProgram<Task extends object, Result>(
  name: string,
  args: readonly string[],
): Promise<BenchProgram<Task, Result>> {
  const child = start(process.execPath, [program(name), ...args], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const exited = once(child, "exit").then(() => {
    throw new Error(`bench/programs/${name}.ts has exited`);
  });
  exited.catch(() => {});
  async function reply(): Promise<Exclude<Reply<Result>, { readonly failed: string }>> {
    const [received] = (await Promise.race([once(child, "message"), exited])) as [Reply<Result>];
    if (received !== "ready" && "failed" in received) throw new Error(`bench/programs/${name}.ts: ${received.failed}`);
    return received;
  }
  await reply();
  async function prepare(task: Task): Promise<() => Promise<Result>> {
    child.send(task);
    await reply();
    return async () => {
      child.send(START);
      return ((await reply()) as { readonly result: Result }).result;
    };
  }
  return { prepare, run: async (task) => (await prepare(task))(), [Symbol.asyncDispose]: () => stop(child) };
}

/** In the program: prepares and executes runs as requested. */
export function serveRuns<Task, Result>(prepare: (task: Task) => Promise<() => Promise<Result>> | (() => Promise<Result>)): void {
  const send = (reply: Reply<Result>): void => void process.send?.(reply);
  let run: (() => Promise<Result>) | undefined;
  async function handle(message: unknown): Promise<Reply<Result>> {
    if (message === START && run !== undefined) return { result: await run() };
    run = await prepare(message as Task);
    return "ready";
  }
  process.on("message", async (message) => {
    send(
      await handle(message).catch((error: unknown) => ({
        failed: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })),
    );
  });
  process.on("disconnect", () => process.exit());
  send("ready");
}

/** `busy` is the processor time of the program as a share of one processor. */
export type RunTime = { readonly seconds: number; readonly busy: number };

export async function timeRun(work: () => Promise<void> | void): Promise<RunTime> {
  const [started, before] = [performance.now(), process.cpuUsage()];
  await work();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { seconds, busy: (user + system) / 1e6 / seconds };
}
