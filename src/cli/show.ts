// One object, as it is told to people: a line a field; or as a line of JSON.

import { isObject } from "../domain/validate.ts";
import { type Call, print, say } from "./command.ts";
import type { Item } from "./request.ts";
import { clean } from "./width.ts";

export const JSON_FLAG = { json: { type: "boolean" } } as const;

export function show(call: Call, object: Item): number {
  if (call.flags["json"] === true) return printJson(object);
  const lines = linesOf(object, "");
  const width = Math.max(...lines.map(([name]) => name.length));
  print(lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n"));
  return 0;
}

/** What was done, in words, or the object that it was done to as JSON. */
export function tellDone(call: Call, object: Item, words: string): number {
  if (call.flags["json"] === true) return printJson(object);
  say(clean(words));
  return 0;
}

/** Of an object before and after: it tells no more than its own fields. */
export function changeWord(before: Item, after: Item): "changed" | "unchanged" {
  const isSame = Object.entries(before).every(([name, value]) => JSON.stringify(value) === JSON.stringify(after[name]));
  return isSame ? "unchanged" : "changed";
}

/** Something new: its id alone is data, for whoever goes on with it. */
export function tellMade(call: Call, object: Item, words: string): number {
  if (call.flags["json"] === true) return printJson(object);
  print(clean(String(object["id"])));
  say(clean(words));
  return 0;
}

function printJson(object: Item): number {
  print(JSON.stringify(object));
  return 0;
}

function linesOf(object: Item, before: string): [name: string, value: string][] {
  return Object.entries(object).flatMap(([name, value]) => {
    if (name === "location" && isObject(value)) return linesOf(value, `${name}.`);
    return [[`${before}${name}`, wordsFor(value)]];
  });
}

function wordsFor(value: unknown): string {
  if (value === null || value === "") return "-";
  return clean(typeof value === "string" ? value : JSON.stringify(value));
}
