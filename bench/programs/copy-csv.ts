// copy-csv.ts FILE DATABASE_URL: PostgreSQL's own bulk load: one COPY of the whole file.

import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { from as copyFrom } from "pg-copy-streams";
import { withClient } from "../contestants/postgres-client.ts";

const TABLE = `CREATE TABLE reading (
  tank text COLLATE "C" NOT NULL, created_at timestamptz NOT NULL, fill double precision NOT NULL, PRIMARY KEY (tank, created_at)
)`;

const [file = "", url = ""] = process.argv.slice(2);
const copy = copyFrom("COPY reading (tank, created_at, fill) FROM STDIN WITH (FORMAT csv, HEADER true)");
await withClient(url, async (client) => {
  await client.query(TABLE);
  await pipeline(createReadStream(file, { highWaterMark: 262_144 }), client.query(copy));
});
console.log(JSON.stringify({ rows: copy.rowCount }));
