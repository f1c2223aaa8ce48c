// Nearness of words, for messages that guess what was meant.

/** The candidate nearest to the word, if it is near enough to be a slip of the hand or of memory. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  let best: string | undefined;
  let least = Math.max(2, Math.ceil(word.length / 2)) + 1;
  for (const candidate of candidates) {
    // A word is at least as far away as it is longer or shorter.
    if (Math.abs(word.length - candidate.length) >= least) continue;
    const d = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

/** Levenshtein's. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(swap, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}

/** ` Did you mean "size"?`, or nothing. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const near = closest(word, candidates);
  return near === undefined ? "" : ` Did you mean "${near}"?`;
}

/** For messages: a foreign text, short and without control characters. */
export function quoted(text: string): string {
  const clean = text.toWellFormed().replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd");
  return JSON.stringify(clean.length > 80 ? `${clean.slice(0, 80)}…` : clean);
}
