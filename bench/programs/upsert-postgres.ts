// upsert-postgres.ts DATABASE_URL TANKS: takes turns at PostgreSQL's own bulk insert of the same readings into a bare table: one
// prepared statement a batch, which is a transaction of its own, with the batch as arrays.

import { Client } from "pg";
import { type Arriving, arrivingFrom, pastReadings } from "../dataset/arrivals.ts";
import { atOnce, paced } from "../measure/pace.ts";
import { type Spent, spent, takeTurns } from "../measure/turns.ts";

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

/** As texts, which are made once: the driver would take longer. */
function columns(batch: readonly Arriving[]): string[] {
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
await own.query({ ...UPSERT, values: columns(pastReadings(tanks)) });
const clients = [own];

takeTurns<Upserts, Spent>(async ({ first, batches, readings, clients: wanted }) => {
  while (clients.length < wanted) clients.push(await connect());
  const made = Array.from({ length: batches }, (_, i) => columns(arrivingFrom(tanks, first + i * readings, readings)));
  return () =>
    spent(() =>
      paced(clients.slice(0, wanted), batches, atOnce, async (client, i) => {
        const { rowCount } = await client.query({ ...UPSERT, values: made[i] });
        if (rowCount !== readings) throw new Error(`${rowCount} of ${readings} rows were written`);
      }),
    );
});
