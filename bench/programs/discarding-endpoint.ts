// The service's own MQTT endpoint without a store: it reads and acknowledges every message, and stores none.

import { MqttEndpoint } from "../../src/ingest/mqtt/endpoint.ts";

const endpoint = new MqttEndpoint({
  ingest: async (readings) => readings.map((reading) => ("rejected" in reading ? reading : "stored")),
  authenticate: async () => ({
    keyId: "key_1",
    sender: { keyId: "bench", customerId: null, deviceId: null },
    takeToken: () => 0,
  }),
  observe: () => {},
  clock: Date.now,
  admit: () => true,
});
const { port } = await endpoint.listen({ host: "127.0.0.1", port: 0 });
console.log(`mqtt://127.0.0.1:${port}`);
