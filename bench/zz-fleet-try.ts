import { startPostgres } from "./contestants/postgres.ts";
import { fleetPages } from "./figures/fleet.ts";
import { SCALES } from "./scale.ts";

const engine = process.argv[2] as "sqlite" | "postgres";
const scale = { ...SCALES.usual, largeFleet: { sqlite: 100_000, postgres: 100_000 }, smallFleet: 1000, rounds: 3, samples: 500 };
let pg: any;
const out = await fleetPages.run({ scale, engines: [engine], postgres: async () => (pg ??= await startPostgres()) } as never);
for (const row of out.rows) console.log(JSON.stringify(row));
await pg?.[Symbol.asyncDispose]();
