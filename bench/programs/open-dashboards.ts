// open-dashboards.ts URL KEY: what open dashboards request: every three seconds the new events and the fleet, each with the ETag of
// the last response.

import { serveRuns } from "../measure/bench-program.ts";
import { Connection } from "../measure/connection.ts";
import { runScheduled } from "../measure/schedule.ts";

export type Dashboards = { readonly dashboards: number; readonly seconds: number };
export type Polls = { readonly requests: number; readonly unchanged: number };

const EVERY_MS = 3000;

const [url = "", key = ""] = process.argv.slice(2);

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

serveRuns<Dashboards, Polls>(async ({ dashboards, seconds }) => {
  const end = new DisposableStack();
  const open: Dashboard[] = [];
  for (let i = 0; i < dashboards; i++) {
    const connection = end.use(await Connection.open({ url, headers: { "x-api-key": key } }));
    open.push({ connection, tags: new Map(), after: 0 });
  }
  const perDashboard = Math.floor((seconds * 1000) / EVERY_MS);
  return async () => {
    using _end = end;
    const polls = { requests: 0, unchanged: 0 };
    await Promise.all(
      open.map((dashboard, i) => {
        const dueAt = (n: number): number => (n + i / dashboards) * EVERY_MS;
        return runScheduled([dashboard], perDashboard, dueAt, async () => {
          const events = await poll(dashboard, `/insight/v1/events?size=100&after=${dashboard.after}`);
          const sequences =
            events.status === 304 ? [] : [...events.body.matchAll(/"sequence":(\d+)/g)].map((one) => Number(one[1]));
          dashboard.after = Math.max(dashboard.after, ...sequences);
          const fleet = await poll(dashboard, "/insight/v1/fleet");
          polls.requests += 2;
          for (const { status } of [events, fleet]) if (status === 304) polls.unchanged++;
        });
      }),
    );
    return polls;
  };
});
