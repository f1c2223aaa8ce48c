// Opens a store with all its connections, and closes it when a line arrives. The process then ends by itself.

import { once } from "node:events";
import { DEFAULT_ALERT_SETTINGS } from "../../../src/domain/alerts/evaluate.ts";
import { openStore } from "../../../src/store/open.ts";

const [url = "", ...replicaUrls] = process.argv.slice(2);
const settings = { connections: 10, replicaUrls, replicaLagMs: 3_600_000, alerts: DEFAULT_ALERT_SETTINGS };
const inUse = Promise.withResolvers<void>();
const store = await openStore(url, ({ kind }) => kind === "replica_available" && inUse.resolve(), settings);
if (replicaUrls.length > 0) await inUse.promise;
await Promise.all(Array.from({ length: 8 }, () => Promise.all([store.ping(), store.fleetCounts(Date.now()), store.tanksDue(0)])));
console.log("ready");
await once(process.stdin, "data");
process.stdin.destroy();
await store.close();
