// How much data, and how long to look. The figures are promised for the usual scale; the quick one only shows that it works.

import type { Engine } from "./bench.ts";
import type { Order } from "./dataset/files.ts";

export type Scale = {
  readonly name: "quick" | "usual" | "full";
  /** The fleet: so many tanks with so many readings each. */
  readonly tanks: number;
  readonly readingsATank: number;
  /** Single tanks, each with so many readings; the last one is the long tank. */
  readonly rungs: readonly number[];
  /** Peers climb only so far: beyond it one page takes them seconds. */
  readonly peerRungMost: number;
  /** Readings a tank of fleets of one size in tanks; the first is what the others are held against. */
  readonly growth: readonly number[];
  /** Readings a tank in the files that are imported; fewer where tanks are interleaved, which is work for the disk. */
  readonly importedATank: Readonly<Record<Order, number>>;
  readonly rounds: number;
  readonly importRounds: number;
  /** Under load, a round. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** On one connection, a round. */
  readonly samples: number;
  /** Appended readings, and as many late ones. */
  readonly writes: number;
  /** Of 1,000 readings each, sent over HTTP in a round. */
  readonly batches: number;
  /** Of one reading each, sent over MQTT in a round. */
  readonly messages: number;
  /** In which readings come in while others read, a round. */
  readonly mixedSeconds: number;
  /** Tanks in the large fleet, and in the one it is held against. */
  readonly largeFleet: Readonly<Record<Engine, number>>;
  readonly smallFleet: number;
};

const USUAL: Scale = {
  name: "usual",
  tanks: 1000,
  readingsATank: 10_000,
  rungs: [100, 1000, 10_000, 100_000, 1_000_000, 10_000_000],
  peerRungMost: 1_000_000,
  growth: [1000, 10_000],
  importedATank: { tank: 2000, time: 500 },
  rounds: 5,
  importRounds: 3,
  seconds: 4,
  warmUpSeconds: 10,
  samples: 1000,
  writes: 400,
  batches: 200,
  messages: 50_000,
  mixedSeconds: 10,
  largeFleet: { sqlite: 1_000_000, postgres: 100_000 },
  smallFleet: 1000,
};

export const SCALES: Readonly<Record<Scale["name"], Scale>> = {
  usual: USUAL,
  full: { ...USUAL, name: "full", growth: [1000, 10_000, 100_000] },
  quick: {
    name: "quick",
    tanks: 100,
    readingsATank: 500,
    rungs: [100, 1000, 10_000, 100_000],
    peerRungMost: 10_000,
    growth: [50, 500],
    importedATank: { tank: 500, time: 200 },
    rounds: 2,
    importRounds: 1,
    seconds: 1,
    warmUpSeconds: 1,
    samples: 200,
    writes: 40,
    batches: 10,
    messages: 2000,
    mixedSeconds: 2,
    largeFleet: { sqlite: 10_000, postgres: 5000 },
    smallFleet: 100,
  },
};
