// Progress on stderr: a bar on a terminal, now and then a line elsewhere, nothing for what is over within a second.

const BAR_WIDTH = 30;
const TERMINAL_EVERY_MS = 100;
const ELSEWHERE_EVERY_MS = 5000;
const QUIET_MS = 1000;

export class Progress {
  readonly #title: string;
  readonly #stream = process.stderr;
  readonly #started = performance.now();
  #shownAt = performance.now();
  #isDrawn = false;

  constructor(title: string) {
    this.#title = title;
  }

  /** `total` 0 is an unknown one. */
  show(done: number, total: number, words: string): void {
    const now = performance.now();
    const every = this.#stream.isTTY ? TERMINAL_EVERY_MS : ELSEWHERE_EVERY_MS;
    if (now - this.#started < QUIET_MS || now - this.#shownAt < every) return;
    this.#shownAt = now;
    const share = total === 0 ? undefined : Math.min(1, done / total);
    const percent = share === undefined ? "" : `${String(Math.floor(share * 100)).padStart(3)}% `;
    if (this.#stream.isTTY) this.#stream.write(`\r\x1b[2K${this.#title} ${bar(share)}${percent}${words}`);
    else this.#stream.write(`${this.#title} ${percent}${words}\n`);
    this.#isDrawn = true;
  }

  /** Leaves the terminal's line clean for what is said next. */
  end(): void {
    if (this.#isDrawn && this.#stream.isTTY) this.#stream.write("\r\x1b[2K");
    this.#isDrawn = false;
  }
}

function bar(share: number | undefined): string {
  if (share === undefined) return "";
  const full = Math.round(share * BAR_WIDTH);
  return `[${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)}] `;
}
