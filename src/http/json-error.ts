// Describes the first syntax error in a JSON text, by line and column, which the message of `JSON.parse` often lacks. Used
// only after `JSON.parse` has failed. Not recursive, so any depth is safe.

import { quoted } from "../domain/text.ts";

/** Such as `line 2, column 7: expected a comma or }, found "x"`. `firstLine`: the number of the first line. */
export function describeJsonError(text: string, firstLine = 1): string {
  const { at, expected } = firstError(text);
  let [line, start] = [firstLine, 0];
  for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", start)) {
    line++;
    start = end + 1;
  }
  const position = `line ${line}, column ${at - start + 1}`;
  const codePoint = text.codePointAt(at);
  const found = codePoint === undefined ? "the end of the text" : quoted(String.fromCodePoint(codePoint));
  return `${position}: expected ${expected}, found ${found}`;
}

type SyntaxErrorAt = { readonly at: number; readonly expected: string };
/** What may come next. */
type State = "value" | "value or ]" | "name" | "name or }" | "colon" | "comma or end";
type Step = { readonly at: number; readonly state: State } | SyntaxErrorAt;

const WHITESPACE = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function firstError(text: string): SyntaxErrorAt {
  const open: ("{" | "[")[] = [];
  let step: Step = { at: 0, state: "value" };
  while ("state" in step) step = next(text, end(WHITESPACE, text, step.at), step.state, open);
  return step;
}

function next(text: string, at: number, state: State, open: ("{" | "[")[]): Step {
  const here = text.charAt(at);
  switch (state) {
    case "comma or end":
      return afterValue(here, at, open);
    case "colon":
      return here === ":" ? { at: at + 1, state: "value" } : { at, expected: "a colon" };
    case "name":
    case "name or }":
      if (here === '"') return quotedText(text, at, "colon");
      if (here === "}" && state === "name or }") return closed(at, open);
      return { at, expected: state === "name" ? "a name in double quotes" : "a name in double quotes or }" };
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
  if (inside === undefined) return { at, expected: "the end of the text" };
  if (here === ",") return { at: at + 1, state: inside === "{" ? "name" : "value" };
  const close = inside === "{" ? "}" : "]";
  return here === close ? closed(at, open) : { at, expected: `a comma or ${close}` };
}

function closed(at: number, open: ("{" | "[")[]): Step {
  open.pop();
  return { at: at + 1, state: "comma or end" };
}

function scalar(text: string, at: number): Step {
  const ended = end(SCALAR, text, at);
  return ended === at ? { at, expected: "a value" } : { at: ended, state: "comma or end" };
}

function quotedText(text: string, from: number, state: State): Step {
  for (let at = from + 1; ; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return { at: at + 1, state };
    if (Number.isNaN(unit)) return { at, expected: "a closing double quote" };
    if (unit < 0x20) return { at, expected: "an escape such as \\n" };
    if (unit !== 0x5c) continue;
    const ended = end(ESCAPE, text, at);
    if (ended === at) return { at, expected: "an escape such as \\n or \\u00e4" };
    at = ended - 1;
  }
}

/** The end of the match at `here`; `here` itself where there is none. */
function end(pattern: RegExp, text: string, here: number): number {
  pattern.lastIndex = here;
  return pattern.test(text) ? pattern.lastIndex : here;
}
