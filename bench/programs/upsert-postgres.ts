// upsert-postgres.ts DATABASE_URL TANKS: PostgreSQL's own bulk insert of the same readings into a plain table: one prepared
// statement and transaction per batch, with the batch as arrays.

import { Client } from "pg";
import { initialReadings, type LiveReading, liveReadings } from "../dataset/live-readings.ts";
import { type RunTime, serveRuns, timeRun } from "../measure/bench-program.ts";
import { immediately, runScheduled } from "../measure/schedule.ts";

/** `first` is the number of the first reading; `readings` are those of a batch. */
export type Upserts = Readonly<Record<"first" | "batches" | "readings" | "clients", number>>;

const TABLE = `CREATE TABLE reading (
  tank integer NOT NULL, created_at bigint NOT NULL, fill double precision NOT NULL, PRIMARY KEY (tank, created_at)
)`;
const UPSERT = {
  name: "upsert",
  text: `INSERT INTO reading (tank, created_at, fill) SELECT * FROM unnest($1::integer[], $2::bigint[], $3::double precision[])
    ON CONFLICT (tank, created_at) DO UPDATE SET fill = excluded.fill`,
};

const [url = "", count = ""] = process.argv.slice(2);
const tanks = Number(count);

/** As array literals, created before the clock starts: the driver's own conversion is slower. */
function columns(batch: readonly LiveReading[]): string[] {
  const array = (values: readonly number[]): string => `{${values.join(",")}}`;
  return [batch.map(({ tank }) => tank), batch.map(({ createdAt }) => createdAt), batch.map(({ fill }) => fill)].map(array);
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

const own = await connect();
await own.query(TABLE);
await own.query({ ...UPSERT, values: columns(initialReadings(tanks)) });
const clients = [own];

serveRuns<Upserts, RunTime>(async ({ first, batches, readings, clients: wanted }) => {
  while (clients.length < wanted) clients.push(await connect());
  const prepared = Array.from({ length: batches }, (_, i) => columns(liveReadings(tanks, first + i * readings, readings)));
  return () =>
    timeRun(() =>
      runScheduled(clients.slice(0, wanted), batches, immediately, async (client, i) => {
        const { rowCount } = await client.query({ ...UPSERT, values: prepared[i] });
        if (rowCount !== readings) throw new Error(`${rowCount} of ${readings} rows were written`);
      }),
    );
});
