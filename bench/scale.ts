// How much data, and how long to measure. Aims hold for the usual scale; the quick one only shows that the benchmark works.

import type { Order } from "./dataset/files.ts";

export type Scale = {
  readonly name: "quick" | "usual" | "full";
  /** The fleet. */
  readonly tanks: number;
  readonly readingsPerTank: number;
  /** Readings of single large tanks. */
  readonly longTankSizes: readonly number[];
  /** The largest tank of peers: beyond it a page takes them seconds. */
  readonly maxPeerTankSize: number;
  /** Readings per tank in fleets of the same number of tanks; the first is the baseline. */
  readonly growth: readonly number[];
  /** Readings per tank in import files; fewer where tanks are interleaved, which needs more disk writes. */
  readonly importedPerTank: Readonly<Record<Order, number>>;
  readonly rounds: number;
  readonly importRounds: number;
  /** Under load, per round. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** On one connection, per round. */
  readonly samples: number;
  /** Appended readings, and the same number of late ones. */
  readonly writes: number;
  /** Of 1,000 readings each, over HTTP, per round. */
  readonly batches: number;
  /** Of one reading each, over MQTT, per round. */
  readonly messages: number;
  /** Per round. */
  readonly webhooks: number;
  /** Closed ones, whose pages are read. */
  readonly alerts: number;
  /** Reading and ingesting at the same time, per round. */
  readonly mixedSeconds: number;
  /** Held open beside reads: with those of the reads, just under the limit of the service. */
  readonly connections: number;
  /** Tanks in the large fleet, and in the small one it is compared with. */
  readonly largeFleet: number;
  readonly smallFleet: number;
  /** Tanks in the fleet that is searched, and of which the map is. */
  readonly searchedFleet: number;
  /** Whose refills and leaks are looked for, over two years each, and, in each of several fleets, those forecast from every day. */
  readonly simulatedTanks: number;
  readonly backtestedTanks: number;
};

const USUAL: Scale = {
  name: "usual",
  tanks: 1000,
  readingsPerTank: 10_000,
  longTankSizes: [100, 1000, 10_000, 100_000, 1_000_000, 10_000_000],
  maxPeerTankSize: 1_000_000,
  growth: [1000, 10_000],
  importedPerTank: { tank: 2000, time: 500 },
  rounds: 5,
  importRounds: 3,
  seconds: 4,
  warmUpSeconds: 10,
  samples: 1000,
  writes: 400,
  batches: 200,
  messages: 50_000,
  webhooks: 20_000,
  alerts: 1_000_000,
  mixedSeconds: 10,
  connections: 9900,
  largeFleet: 1_000_000,
  smallFleet: 1000,
  searchedFleet: 100_000,
  simulatedTanks: 1500,
  backtestedTanks: 20,
};

export const SCALES: Readonly<Record<Scale["name"], Scale>> = {
  usual: USUAL,
  full: { ...USUAL, name: "full", growth: [1000, 10_000, 100_000] },
  quick: {
    name: "quick",
    tanks: 100,
    readingsPerTank: 500,
    longTankSizes: [100, 1000, 10_000, 100_000],
    maxPeerTankSize: 10_000,
    growth: [50, 500],
    importedPerTank: { tank: 500, time: 200 },
    rounds: 2,
    importRounds: 1,
    seconds: 1,
    warmUpSeconds: 1,
    samples: 200,
    writes: 40,
    batches: 10,
    messages: 2000,
    webhooks: 2000,
    alerts: 20_000,
    mixedSeconds: 2,
    connections: 500,
    largeFleet: 10_000,
    smallFleet: 100,
    searchedFleet: 1000,
    simulatedTanks: 20,
    backtestedTanks: 1,
  },
};
