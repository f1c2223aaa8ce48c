// How wide a text is on a terminal, and what of it may be shown there.

const GRAPHEMES = new Intl.Segmenter("en");
/** Half as wide as their script tells. */
const NARROW = /^[\uff61-\uffdc\uffe8-\uffee]/u;
const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Emoji_Presentation}\p{Regional_Indicator}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
/** An emoji by the mark that follows it. */
const TURNED_EMOJI = /\ufe0f/u;
const ASCII = /^[\x20-\x7e]*$/;

function widthOfGrapheme(grapheme: string): number {
  if (/^[\p{M}\p{Cf}]/u.test(grapheme)) return 0;
  // Their marks stand beside them.
  if (NARROW.test(grapheme)) return [...grapheme].length;
  return WIDE.test(grapheme) || TURNED_EMOJI.test(grapheme) ? 2 : 1;
}

/** In columns of a terminal. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

/** As much of the text as fits, with a mark where something is missing. */
export function cut(text: string, most: number): string {
  if (widthOf(text) <= most) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += widthOfGrapheme(segment);
    if (width > most - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Without what would steer a terminal, or turn the direction of what follows. */
export function clean(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}
