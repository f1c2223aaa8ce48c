// Programs that stay and take turns: each is asked over a channel between the two processes, does its part, and tells how it
// went. What it was slow to load, or the first to run, is over when its turn is measured.

import { once } from "node:events";
import { program } from "../contestants/program.ts";
import { start, stop } from "../processes.ts";

export type Turns<Q, A> = AsyncDisposable & { readonly take: (question: Q) => Promise<A> };

type Told<A> = { readonly answer: A } | { readonly failed: string };

/** A program of bench/programs. One question at a time. */
export async function startTurns<Q extends object, A>(name: string, words: readonly string[]): Promise<Turns<Q, A>> {
  const child = start(process.execPath, [program(name), ...words], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = once(child, "exit").then(() => {
    throw new Error(`bench/programs/${name}.ts has ended`);
  });
  ended.catch(() => {});
  const told = async (): Promise<Told<A>> => ((await Promise.race([once(child, "message"), ended])) as [Told<A>])[0];
  await told();
  return {
    async take(question) {
      child.send(question);
      const result = await told();
      if ("failed" in result) throw new Error(`bench/programs/${name}.ts: ${result.failed}`);
      return result.answer;
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
}

/** In the program: it is ready, and does this whenever it is asked. */
export function takeTurns<Q, A>(work: (question: Q) => Promise<A> | A): void {
  const tell = (told: Told<A> | "ready"): void => void process.send?.(told);
  process.on("message", async (question) => {
    try {
      tell({ answer: await work(question as Q) });
    } catch (error) {
      tell({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on("disconnect", () => process.exit());
  tell("ready");
}

/** What a turn took, and how much of one processor the program itself was busy meanwhile. */
export type Spent = { readonly seconds: number; readonly busy: number };

export async function spent(work: () => Promise<void> | void): Promise<Spent> {
  const [started, before] = [performance.now(), process.cpuUsage()];
  await work();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { seconds, busy: (user + system) / 1e6 / seconds };
}
