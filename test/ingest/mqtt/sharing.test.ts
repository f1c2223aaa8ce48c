// Several processes that subscribe to an external broker.

import assert from "node:assert/strict";
import test from "node:test";
import { Mqtt5Broker } from "../../support/mqtt5-broker.ts";
import { until } from "../../support/until.ts";
import { reading, sleep } from "./endpoint.ts";
import { acknowledged, connected, endReasons, start, TOPIC } from "./subscriber.ts";

test("after ?shared=no is added or removed, each message still arrives once", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  for (const query of ["", "?shared=no", ""]) {
    const subscriber = start(t, broker, { query });
    await connected(subscriber);
    const before = broker.acknowledged.length;
    broker.publish(TOPIC, reading(1));
    await acknowledged(broker, before + 1);
    await subscriber.external.stop();
    assert.deepEqual(subscriber.ingest.fills, [1]);
    assert.equal(broker.unacknowledged, 0);
  }
});

test("a second process subscribes only where messages are shared", async (t) => {
  for (const [sharedSubscriptionAvailable, query, connects] of [
    [true, "", 1],
    [false, "", 1],
    [true, "?shared=no", 0],
    [true, "?protocol=3.1.1", 0],
  ] as const) {
    const broker = await new Mqtt5Broker().listen(t);
    broker.sharedSubscriptionAvailable = sharedSubscriptionAvailable;
    const subscriber = start(t, broker, { query, isFirst: false });
    const subscribed = sharedSubscriptionAvailable && connects > 0 ? 3 : 0;
    const isThere = () => broker.connects.length >= connects && broker.subscribed.length >= subscribed;
    await until("it has connected and subscribed", isThere);
    await sleep(200);
    assert.equal(broker.connects.length, connects);
    assert.equal(broker.subscribed.length, subscribed);
    assert.deepEqual(endReasons(subscriber), []);
  }
});
