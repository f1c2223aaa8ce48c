// The imports between files, and what the design says of them: arrows point inward, to `domain`, and never in a circle.

import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

/** Paths under `src`, with `/` on every system. */
export type Sources = ReadonlyMap<string, string>;
export type Graph = ReadonlyMap<string, readonly string[]>;

export function sourcesIn(folder: URL): Sources {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/"));
  return new Map(names.filter((name) => name.endsWith(".ts")).map((name) => [name, readFileSync(new URL(name, folder), "utf8")]));
}

/** `import … from`, `export … from`, `import "…"`, `import("…")`, and a thread started from a file. */
const FORMS = [
  /^\s*(?:import|export)\s[^;"'`]*?\sfrom\s+["']([^"']+)["']/gm,
  /^\s*import\s+["']([^"']+)["']/gm,
  /\bimport\(\s*["']([^"']+)["']\s*\)/g,
  /\bnew URL\(\s*["'](\.{1,2}\/[^"']+\.ts)["']/g,
];

export function graphOf(sources: Sources): Graph {
  return new Map([...sources].map(([file, text]) => [file, importsOf(file, text)]));
}

function importsOf(file: string, text: string): string[] {
  const named = FORMS.flatMap((form) => [...text.matchAll(form)].map(([, name = ""]) => name));
  return [...new Set(named.filter((name) => name.startsWith(".")).map((name) => posix.join(posix.dirname(file), name)))];
}

const OUTERMOST = ["main.ts", "cli", "workers", "app.ts", "mqtt.ts"];

/** A folder of `src`, or a file that stands in `src` itself. */
const partOf = (file: string): string => file.split("/")[0] ?? "";

/**
 * Inside `domain` and the parts around it, only a part's own files and `domain`; the outer ones see all that is inside them.
 * The demo stands on the simulator, which is a client and stands on nothing.
 */
function mayImport(from: string, to: string): boolean {
  if (from === to || to === "domain" || (from === "demo" && to === "simulate")) return true;
  const place = OUTERMOST.indexOf(from);
  return place !== -1 && !OUTERMOST.slice(0, place + 1).includes(to);
}

export function faultsOfDirection(graph: Graph): string[] {
  return edgesOf(graph).flatMap(([from, to]) => {
    if (to.startsWith("..")) return [];
    return mayImport(partOf(from), partOf(to)) ? [] : [`${from} imports ${to}`];
  });
}

export function unknownFiles(graph: Graph): string[] {
  return edgesOf(graph).flatMap(([from, to]) => (graph.has(to) || to.startsWith("..") ? [] : [`${from} imports ${to}`]));
}

const edgesOf = (graph: Graph): (readonly [string, string])[] =>
  [...graph].flatMap(([from, tos]) => tos.map((to) => [from, to] as const));

/** The strongly connected components of more than one file, or of one that imports itself (Tarjan's). */
export function cyclesIn(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];

  function visit(file: string): number {
    const place = order.size;
    let low = place;
    order.set(file, place);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    lowest.set(file, low);
    if (low === place) {
      const component = stack.splice(stack.indexOf(file));
      if (component.length > 1 || graph.get(file)?.includes(file)) found.push(component.toSorted());
    }
    return low;
  }

  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found;
}
