// Work that is repeated in the background: one run at a time. A stop waits for the run in progress, which should look whether it has
// to end.

type RepeatedTaskOptions = {
  readonly everyMs: number;
  readonly run: () => Promise<void>;
  /** A run that fails is repeated at the next time. */
  readonly onError: (error: unknown) => void;
};

export class RepeatedTask {
  readonly #options: RepeatedTaskOptions;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #isStopping = false;

  /** The first run is after `everyMs`, or with `start()`. */
  constructor(options: RepeatedTaskOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.start(), options.everyMs).unref();
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Unless a run is in progress. */
  start(): void {
    if (this.#isStopping) return;
    this.#running ??= this.#options
      .run()
      .catch(this.#options.onError)
      .finally(() => {
        this.#running = undefined;
      });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    await this.#running;
  }
}
