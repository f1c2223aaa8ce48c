// receive-webhooks.ts URL KEY: creates receivers of webhooks with their channels, and measures the time until all webhooks have
// arrived. The channels are created before the clock starts, and deleted after it has stopped.

import { type RunTime, serveRuns, timeRun } from "../measure/bench-program.ts";
import { WebhookReceivers } from "../measure/webhook-receivers.ts";

export type Reception = {
  readonly receivers: number;
  /** Of them, those that never respond. */
  readonly hanging: number;
  /** Webhooks to the others, in all. */
  readonly webhooks: number;
};
/** `repeated`: webhooks that arrived more than once. */
export type Received = RunTime & { readonly repeated: number };

const MAX_MS = 120_000;

const [url = "", key = ""] = process.argv.slice(2);
const received = new Set<string>();
let repeated = 0;
let expected = 0;
let allReceived: () => void = () => {};

const receivers = await WebhookReceivers.open({ url, key }, (id) => {
  if (received.has(id)) repeated++;
  received.add(id);
  if (received.size === expected) allReceived();
});

serveRuns<Reception, Received>(async ({ receivers: count, hanging, webhooks }) => {
  await receivers.add(count, hanging);
  received.clear();
  repeated = 0;
  expected = webhooks;
  return async () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    allReceived = resolve;
    const late = (): void => reject(new Error(`${received.size} of ${expected} webhooks in ${MAX_MS / 1000} s`));
    const timer = setTimeout(late, MAX_MS);
    const time = await timeRun(() => promise);
    clearTimeout(timer);
    await receivers.removeAll();
    return { ...time, repeated };
  };
});
