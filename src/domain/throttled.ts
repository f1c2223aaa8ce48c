// Thousands of connections may time out together: closing them a few at a time leaves the event loop to requests.

const PER_PAUSE = 2;
const PAUSE_MS = 10;

/**
 * Calls `handle` for each item, in the order they are given, and pauses after every few for which it returns true: 200 a second. False
 * means that there was nothing to do. An item that is waiting is not added again.
 */
export function throttled<T>(handle: (item: T) => boolean): (item: T) => void {
  const waiting = new Set<T>();
  let isScheduled = false;
  function handleSome(): void {
    let handled = 0;
    for (const item of waiting) {
      waiting.delete(item);
      if (handle(item) && ++handled === PER_PAUSE) break;
    }
    isScheduled = waiting.size > 0;
    if (isScheduled) setTimeout(handleSome, PAUSE_MS).unref();
  }
  return (item) => {
    waiting.add(item);
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(handleSome, 0).unref();
  };
}
