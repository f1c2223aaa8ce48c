// Text that a spreadsheet would calculate, such as the name of a tank that begins with `=`. The dashboard exports with the same rule.

const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
/** Numbers and phone numbers: without letters, quotes or `=`, a formula refers to nothing and runs nothing; at worst it is arithmetic. */
const ONLY_DIGITS = /^[+-][\d ()./-]*$/;

/** With an apostrophe before it, a spreadsheet shows a formula as text. */
const escapeFormula = (text: string): string => (FORMULA.test(text) && !ONLY_DIGITS.test(text) ? `'${text}` : text);

/** A cell of a CSV file that a spreadsheet shows as this text: one that would be a formula gets an apostrophe, which `import` removes again. */
export function csvCell(text: string): string {
  const safe = escapeFormula(text);
  return /["\r\n,;\t]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const unescapeFormula = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell);
