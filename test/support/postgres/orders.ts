// What a keeper can be told, and what it answers. The servers that it keeps have numbers, in the order they were made.

import type { Ending } from "./cluster.ts";

export type Order =
  | { readonly do: "make" }
  | { readonly do: "replica"; readonly server: number }
  | { readonly do: "start"; readonly server: number }
  | { readonly do: "stop"; readonly server: number; readonly how: Ending };

export type Told = { readonly id: number; readonly order: Order };

export type Kept = {
  readonly server: number;
  readonly url: string;
  /** Of the main process, while it runs. */
  readonly pid: number | undefined;
  /** Where everything of this keeper lies. */
  readonly folder: string;
};

export type Answer = { readonly id: number } & ({ readonly kept: Kept } | { readonly fault: string });
