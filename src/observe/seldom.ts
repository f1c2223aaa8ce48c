// Lines of one kind that others can cause at will: so many in a while, and a count of those left out.

const LINES = 10;
const WHILE_MS = 10_000;

type Kind = { since: number; said: number; leftOut: number };

export class Seldom {
  readonly #kinds = new Map<string, Kind>();

  /** How many were left out since the last one that was said, or undefined where this one is left out too. */
  pass(name: string, now: number): number | undefined {
    const kind = this.#kinds.get(name) ?? { since: now, said: 0, leftOut: 0 };
    this.#kinds.set(name, kind);
    if (now - kind.since >= WHILE_MS) {
      kind.since = now;
      kind.said = 0;
    }
    if (kind.said >= LINES) {
      kind.leftOut++;
      return undefined;
    }
    kind.said++;
    const { leftOut } = kind;
    kind.leftOut = 0;
    return leftOut;
  }
}
