// A client of an external broker, with a fake store.

import type { LogEvent } from "../../../src/domain/log-events.ts";
import { ExternalBroker, type ExternalBrokerLimits } from "../../../src/ingest/mqtt/external-broker.ts";
import { Mqtt5Broker } from "../../support/mqtt5-broker.ts";
import type { Lifetime } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { eventsOf } from "./endpoint.ts";
import { FakeIngest } from "./fake-ingest.ts";

type Subscriber = { readonly external: ExternalBroker; readonly ingest: FakeIngest; readonly events: LogEvent[] };
type Options = {
  readonly protocol?: "mqtt" | "mqtts";
  readonly query?: string;
  readonly user?: string;
  readonly isFirst?: boolean;
  readonly limits?: Partial<ExternalBrokerLimits>;
};

const QUICK: Partial<ExternalBrokerLimits> = { minReconnectMs: 20, maxReconnectMs: 100, resendMs: 100 };
export const TOPIC = "tanks/d1/readings";
export const FILTERS = ["tanks/+/readings", "application/+/device/+/event/up", "v3/+/devices/+/up"];

export function start(life: Lifetime, { port }: Pick<Mqtt5Broker, "port">, options: Options = {}): Subscriber {
  const { protocol = "mqtt", query = "", user = "", isFirst = true, limits } = options;
  const ingest = new FakeIngest();
  const events: LogEvent[] = [];
  const external = new ExternalBroker({
    url: `${protocol}://${user}127.0.0.1:${port}${query}`,
    identity: { clientId: "tank-monitor-0", isPersistent: true, isFirst },
    ingest: ingest.handle,
    observe: (event) => events.push(event),
    clock: Date.now,
    limits: { ...QUICK, ...limits },
  });
  external.start();
  life.after(() => external.stop());
  return { external, ingest, events };
}

export const connected = (subscriber: Subscriber, times = 1): Promise<boolean> =>
  until("it is connected", () => eventsOf(subscriber, "broker_connected").length >= times);

export async function subscribe(life: Lifetime, options?: Options): Promise<Subscriber & { readonly broker: Mqtt5Broker }> {
  const broker = await new Mqtt5Broker().listen(life);
  const subscriber = start(life, broker, options);
  await connected(subscriber);
  return { ...subscriber, broker };
}

export const ingesting = ({ ingest }: Subscriber): Promise<boolean> =>
  until("readings are ingested", () => ingest.calls.length > 0);
export const acknowledged = ({ acknowledged: payloads }: Mqtt5Broker, count: number): Promise<boolean> =>
  until(`${count} messages are acknowledged`, () => payloads.length === count, 10_000);
export const endReasons = (subscriber: Subscriber): string[] =>
  eventsOf(subscriber, "broker_disconnected").map(({ reason }) => reason);
