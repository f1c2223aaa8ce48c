// The service's own MQTT broker without a service: it reads every message, stores nothing, and acknowledges.

import { Broker } from "../../src/ingest/mqtt/broker.ts";

const broker = new Broker({
  accept: async (arrivals) => arrivals.map((arrival) => ("rejected" in arrival ? arrival : "stored")),
  admit: async () => ({ keyId: "key_1", sender: { customerId: null, deviceId: null }, turn: () => 0 }),
  observe: () => {},
  clock: Date.now,
});
const { port } = await broker.start({ host: "127.0.0.1", port: 0 });
console.log(`mqtt://127.0.0.1:${port}`);
