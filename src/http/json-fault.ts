// Where a text stops being JSON, in words for whoever wrote it. Looked for only once `JSON.parse` has refused the text, since
// its own words change from version to version and mostly tell no place. Without recursion: any depth is fine.

import { quoted } from "../domain/text.ts";

/** `line 2, column 7: a comma or } must stand here, not "x"`. The text may be a part of more, of which it begins a line. */
export function faultInJson(text: string, firstLine = 1): string {
  const { at, must } = firstFault(text);
  let [line, start] = [firstLine, 0];
  for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", start)) {
    line++;
    start = end + 1;
  }
  const place = `line ${line}, column ${at - start + 1}`;
  const found = text.codePointAt(at);
  if (found === undefined) return `${place}: the text ends where ${must} must follow`;
  return `${place}: ${must} must stand here, not ${quoted(String.fromCodePoint(found))}`;
}

/** A place in the text, and what must stand there. */
type Expected = { readonly at: number; readonly must: string };
/** What comes next. */
type State = "value" | "value or ]" | "name" | "name or }" | "colon" | "comma or end";
type Step = { readonly at: number; readonly state: State } | Expected;

const BLANK = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function firstFault(text: string): Expected {
  const open: ("{" | "[")[] = [];
  let step: Step = { at: 0, state: "value" };
  while ("state" in step) step = next(text, end(BLANK, text, step.at), step.state, open);
  return step;
}

function next(text: string, at: number, state: State, open: ("{" | "[")[]): Step {
  const here = text.charAt(at);
  switch (state) {
    case "comma or end":
      return afterValue(here, at, open);
    case "colon":
      return here === ":" ? { at: at + 1, state: "value" } : { at, must: "a colon" };
    case "name":
    case "name or }":
      if (here === '"') return quotedText(text, at, "colon");
      if (here === "}" && state === "name or }") return closed(at, open);
      return { at, must: state === "name" ? "a name in double quotes" : "a name in double quotes or }" };
    case "value":
    case "value or ]":
      if (here === "]" && state === "value or ]") return closed(at, open);
      if (here === '"') return quotedText(text, at, "comma or end");
      if (here !== "{" && here !== "[") return scalar(text, at);
      open.push(here);
      return { at: at + 1, state: here === "{" ? "name or }" : "value or ]" };
  }
}

function afterValue(here: string, at: number, open: ("{" | "[")[]): Step {
  const inside = open.at(-1);
  if (inside === undefined) return { at, must: "the end" };
  if (here === ",") return { at: at + 1, state: inside === "{" ? "name" : "value" };
  const close = inside === "{" ? "}" : "]";
  return here === close ? closed(at, open) : { at, must: `a comma or ${close}` };
}

function closed(at: number, open: ("{" | "[")[]): Step {
  open.pop();
  return { at: at + 1, state: "comma or end" };
}

function scalar(text: string, at: number): Step {
  const ended = end(SCALAR, text, at);
  return ended === at ? { at, must: "a value" } : { at: ended, state: "comma or end" };
}

function quotedText(text: string, from: number, state: State): Step {
  for (let at = from + 1; ; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return { at: at + 1, state };
    if (Number.isNaN(unit)) return { at, must: "a closing double quote" };
    if (unit < 0x20) return { at, must: "an escape such as \\n" };
    if (unit !== 0x5c) continue;
    const ended = end(ESCAPE, text, at);
    if (ended === at) return { at, must: "an escape such as \\n or \\u00e4" };
    at = ended - 1;
  }
}

/** Where that ends which the pattern finds here; here, where it finds nothing. */
function end(pattern: RegExp, text: string, here: number): number {
  pattern.lastIndex = here;
  return pattern.test(text) ? pattern.lastIndex : here;
}
