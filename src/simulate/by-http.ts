// The way over HTTP: readings of our own together in one request, network servers' messages one by one at their webhooks.

import { type Answer, type Caller, complaintOf } from "./call.ts";
import type { Outcome, Way } from "./delivery.ts";
import type { Message } from "./message.ts";

/** So many share one commit of the service. */
const LANES = 32;
const MOST_TOGETHER = 500;

export function byHttp(call: Caller): Way {
  return {
    lanes: LANES,
    most: MOST_TOGETHER,
    async deliver(messages, again, hurry) {
      const readings = messages.reduce((sum, { numbers }) => sum + numbers.length, 0);
      const answer = await call({ ...requestFor(messages), method: "POST", again: () => again(readings), hurry });
      return outcomesIn(answer);
    },
    close: async () => {},
  };
}

function requestFor(messages: readonly Message[]): { readonly path: string; readonly text: string } {
  const [first] = messages;
  if (first !== undefined && first.by !== "own") return { path: `/ingest/v1/${first.by}`, text: first.text };
  const readings = messages.flatMap((message) =>
    message.by === "own" ? message.readings.map((reading) => ({ device_id: message.device, ...reading })) : [],
  );
  return { path: "/ingest/v1/readings", text: JSON.stringify(readings) };
}

/** Anything but the documented answer cannot be counted on: nothing was acknowledged with it. */
function outcomesIn(answer: Answer): Outcome[] {
  const { results } = answer.body;
  if (answer.status !== 200 || !Array.isArray(results)) throw complaintOf(answer, "sending readings");
  return results as Outcome[];
}
