// Where log lines go: a file descriptor, written in the background by sonic-boom, which comes with pino. Lines must never
// block the service: those that exceed the buffer are dropped and counted, and the count is logged once writing works again.

import { pino } from "pino";

const STDERR = 2;
const BUFFER_BYTES = 4_194_304;
/** Lines are collected this long, or up to this many characters: a write costs more than many lines. */
const COLLECT_MS = 20;
const COLLECT_CHARACTERS = 65_536;
const CLOSE_MS = 2000;

export type LogOutput = {
  readonly write: (lines: string) => void;
  readonly close: () => Promise<void>;
};

export function openLogOutput(descriptor = STDERR): LogOutput {
  let dropped = 0;
  let isFailing = false;
  let retryUntil = Number.POSITIVE_INFINITY;
  // sonic-boom's flush does nothing while its minimum is 0.
  const stream = pino.destination({
    dest: descriptor,
    sync: false,
    minLength: 1,
    maxLength: BUFFER_BYTES,
    retryEAGAIN: () => performance.now() < retryUntil,
  });
  stream.on("drop", (lines) => {
    dropped += lines.split("\n").length - 1;
    // After an error nothing is written until the next write, and a full buffer accepts none.
    stream.flush();
  });
  stream.on("write", () => {
    isFailing = false;
  });
  stream.on("drain", () => {
    if (dropped === 0) return;
    const line = `{"level":40,"event":"log_lines_dropped","lines":${dropped},"msg":"log lines could not be written"}\n`;
    dropped = 0;
    stream.write(line);
  });
  // What could not be written stays in the buffer.
  stream.on("error", () => {
    isFailing = true;
  });
  // pino flushes at exit, which would retry for ever on an output that fails.
  process.prependOnceListener("exit", () => {
    if (isFailing) stream.destroy();
    else writeQueued();
  });
  let queued = "";
  function writeQueued(): void {
    const lines = queued;
    queued = "";
    if (lines !== "") stream.write(lines);
  }
  let closing: Promise<void> | undefined;
  async function flushAndDestroy(): Promise<void> {
    writeQueued();
    retryUntil = performance.now() + CLOSE_MS;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      stream.flush(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    stream.destroy();
  }
  return {
    write(lines) {
      if (closing !== undefined) return;
      if (queued === "") setTimeout(writeQueued, COLLECT_MS).unref();
      queued += lines;
      if (queued.length >= COLLECT_CHARACTERS) writeQueued();
    },
    close() {
      closing ??= flushAndDestroy();
      return closing;
    },
  };
}
