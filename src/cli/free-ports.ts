// Checks that the ports of a service are free, before it creates a database.

import type { Config } from "../config.ts";
import { bindSocket } from "../http/address.ts";

type Ports = Pick<Config, "host" | "port" | "mqttPort" | "mqttsPort">;

export async function requireFreePorts({ host, port, mqttPort, mqttsPort }: Ports): Promise<void> {
  const ports = [
    { host, port },
    { host, port: mqttPort, setting: "--mqtt or MQTT" },
    { host, port: mqttsPort, setting: "--mqtts or MQTTS" },
  ];
  for (const address of ports.filter(isGiven)) {
    (await bindSocket(address))[Symbol.dispose]();
  }
}

function isGiven<T extends { readonly port: number | null }>(address: T): address is T & { readonly port: number } {
  return address.port !== null;
}
