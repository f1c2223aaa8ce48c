// open-dashboards.ts URL COOKIE: what open dashboards request with the cookie of a session: every three seconds the new events, the
// numbers of alerts and the first page of the fleet, with the ETag of the last response.

import { constants, setPriority } from "node:os";
import { serveRuns } from "../measure/bench-program.ts";
import { Connection } from "../measure/connection.ts";
import { runScheduled } from "../measure/schedule.ts";

export type Dashboards = { readonly dashboards: number; readonly seconds: number };
export type Polls = { readonly requests: number; readonly unchanged: number };

const EVERY_MS = 3000;

const [url = "", cookie = ""] = process.argv.slice(2);

const COUNTS = "/insight/v1/alerts/counts";
const FLEET = "/insight/v1/fleet?page=1&size=25";
/** No database has come that far, so that the first response has only the present position. */
const NEWEST = Number.MAX_SAFE_INTEGER;

type Dashboard = { readonly connection: Connection; readonly tags: Map<string, string>; after: number };

async function poll({ connection, tags }: Dashboard, path: string): Promise<{ readonly status: number; readonly body: string }> {
  const tag = tags.get(path);
  const response = await connection.get(path, tag === undefined ? {} : { "if-none-match": tag });
  const { status, head, body } = response;
  if (status !== 200 && status !== 304) throw new Error(`${path} got ${status}: ${body.slice(0, 200)}`);
  const newTag = /^etag: *(\S+)/im.exec(head)?.[1];
  if (newTag !== undefined) tags.set(path, newTag);
  return response;
}

// Browsers have processors of their own; on this machine the service comes first.
setPriority(constants.priority.PRIORITY_LOW);

serveRuns<Dashboards, Polls>(async ({ dashboards, seconds }) => {
  const end = new DisposableStack();
  const open: Dashboard[] = [];
  for (let i = 0; i < dashboards; i++) {
    const connection = end.use(await Connection.open({ url, headers: { cookie } }));
    open.push({ connection, tags: new Map(), after: NEWEST });
  }
  // Once also in a quick run, which is shorter.
  const perDashboard = Math.max(1, Math.floor((seconds * 1000) / EVERY_MS));
  return async () => {
    using _end = end;
    const polls = { requests: 0, unchanged: 0 };
    await Promise.all(
      open.map((dashboard, i) => {
        const dueAt = (n: number): number => (n + i / dashboards) * EVERY_MS;
        return runScheduled([dashboard], perDashboard, dueAt, async () => {
          const events = await poll(dashboard, `/insight/v1/events?after=${dashboard.after}&size=100`);
          const next = /"next_after":(\d+)/.exec(events.body)?.[1];
          if (next !== undefined) dashboard.after = Number(next);
          const counts = await poll(dashboard, COUNTS);
          const fleet = await poll(dashboard, FLEET);
          polls.requests += 3;
          for (const { status } of [events, counts, fleet]) if (status === 304) polls.unchanged++;
        });
      }),
    );
    return polls;
  };
});
