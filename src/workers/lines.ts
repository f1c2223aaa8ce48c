// Workers write their log to their parent, which writes all of it: lines of several processes on one pipe would run into
// each other.

import type { Readable } from "node:stream";

/** Passes whole lines on, as soon as they are whole. */
export function passLines(from: Readable, pass: (lines: string) => void): void {
  let begun = "";
  from.setEncoding("utf8");
  from.on("data", (text: string) => {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) pass(begun + text.slice(0, end));
    begun = end > 0 ? text.slice(end) : begun + text;
  });
  from.on("end", () => {
    if (begun !== "") pass(`${begun}\n`);
  });
}
