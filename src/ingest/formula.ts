// Text that a spreadsheet would calculate, such as the name of a tank that begins with `=`. The dashboard exports with the same rule.

const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
/** Numbers and phone numbers: without letters, quotes or `=`, a formula refers to nothing and runs nothing; at worst it is arithmetic. */
const ONLY_DIGITS = /^[+-][\d ()./-]*$/;

/** With an apostrophe before it, a spreadsheet shows a formula as text. */
export const escapeFormula = (text: string): string => (FORMULA.test(text) && !ONLY_DIGITS.test(text) ? `'${text}` : text);

export const unescapeFormula = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell);
