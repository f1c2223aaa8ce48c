// The machine and the versions that a figure was measured with.

import { cpus, totalmem } from "node:os";
import { TOOL } from "../measure/load.ts";

export type Machine = Readonly<Record<string, string>>;

export function machine(postgresVersion: string | undefined): Machine {
  const [cpu] = cpus();
  return {
    system: `${process.platform} ${process.arch}`,
    processor: `${cpus().length} × ${cpu?.model.trim() || "unnamed"}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    Node: process.versions.node,
    SQLite: process.versions["sqlite"] ?? "",
    PostgreSQL: postgresVersion ?? "not started",
    "load tool": TOOL,
  };
}
