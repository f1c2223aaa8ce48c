// Fastify alone, which answers every question with the same bytes.

import { stop } from "../processes.ts";
import type { Contestant } from "./contestant.ts";
import { startProgram } from "./program.ts";

export async function startBare(model: Contestant, body: string): Promise<Contestant> {
  const { child, url } = await startProgram("bare", [body]);
  return { ...model, name: "bare Fastify", url, pid: child.pid ?? 0, [Symbol.asyncDispose]: () => stop(child) };
}
