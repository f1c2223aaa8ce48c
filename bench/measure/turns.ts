// Programs that stay and take turns: each is asked over a channel between the two processes, makes itself ready, and does its
// part when it is told to. What it was slow to load, or the first to run, is over when its turn is measured; so is what it makes
// beforehand, which would take the processor from those that are measured.

import { once } from "node:events";
import { program } from "../contestants/program.ts";
import { start, stop } from "../processes.ts";

export type Turns<Q, A> = AsyncDisposable & {
  /** Resolves when it is ready; what it gives begins the turn. */
  readonly ready: (question: Q) => Promise<() => Promise<A>>;
  readonly take: (question: Q) => Promise<A>;
};

const GO = "go";

type Told<A> = "ready" | { readonly answer: A } | { readonly failed: string };

/** A program of bench/programs. One question at a time. */
export async function startTurns<Q extends object, A>(name: string, words: readonly string[]): Promise<Turns<Q, A>> {
  const child = start(process.execPath, [program(name), ...words], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = once(child, "exit").then(() => {
    throw new Error(`bench/programs/${name}.ts has ended`);
  });
  ended.catch(() => {});
  async function told(): Promise<Exclude<Told<A>, { readonly failed: string }>> {
    const [result] = (await Promise.race([once(child, "message"), ended])) as [Told<A>];
    if (result !== "ready" && "failed" in result) throw new Error(`bench/programs/${name}.ts: ${result.failed}`);
    return result;
  }
  await told();
  async function ready(question: Q): Promise<() => Promise<A>> {
    child.send(question);
    await told();
    return async () => {
      child.send(GO);
      return ((await told()) as { readonly answer: A }).answer;
    };
  }
  return { ready, take: async (question) => (await ready(question))(), [Symbol.asyncDispose]: () => stop(child) };
}

/** In the program: it is ready, and makes itself ready for a turn, and takes it, whenever it is asked. */
export function takeTurns<Q, A>(prepare: (question: Q) => Promise<() => Promise<A>> | (() => Promise<A>)): void {
  const tell = (told: Told<A>): void => void process.send?.(told);
  let go: (() => Promise<A>) | undefined;
  async function take(asked: unknown): Promise<Told<A>> {
    if (asked === GO && go !== undefined) return { answer: await go() };
    go = await prepare(asked as Q);
    return "ready";
  }
  process.on("message", async (asked) => {
    tell(
      await take(asked).catch((error: unknown) => ({
        failed: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })),
    );
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
