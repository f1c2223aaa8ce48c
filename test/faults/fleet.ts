// The fleet that readings are sent for: tanks with their devices, and devices that nobody knows.

import { customer, type Line, tank } from "../e2e/fixtures.ts";

const TANKS = 12;
const STRAYS = 3;

export type Source = {
  /** As the ledger knows it: the tank, or a device without one. */
  readonly place: string;
  readonly tankId: string | undefined;
  readonly deviceId: string;
};

const many = <T>(count: number, make: (i: number) => T): [T, ...T[]] => [
  make(0),
  ...Array.from({ length: count - 1 }, (_, i) => make(i + 1)),
];
const eui = (i: number): string => `a84041c2f1827d${i.toString(16).padStart(2, "0")}`;

/** Half of the devices have an EUI-64, as those of network servers do. */
export const KNOWN = many(TANKS, (i) => ({ place: `t${i}`, tankId: `t${i}`, deviceId: i % 2 === 0 ? eui(i) : `device-${i}` }));

export const UNKNOWN = many(STRAYS, (i) => ({ place: `stray-${i}`, tankId: undefined, deviceId: `stray-${i}` }));

export const SOURCES: readonly [Source, ...Source[]] = [...KNOWN, ...UNKNOWN];
export const sourceOf = (place: string): Source => SOURCES.find((source) => source.place === place) ?? KNOWN[0];

/** Where each of the unknown goes in the end. */
export const spareFor = (place: string): string => `spare for ${place}`;

export const FLEET: readonly Line[] = [
  customer("ada"),
  ...KNOWN.map(({ tankId, deviceId }) => tank(tankId, "ada", { assigned_device_id: deviceId })),
  ...UNKNOWN.map(({ place }) => tank(spareFor(place), "ada")),
];
