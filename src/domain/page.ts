// Paging of lists. Most lists are ordered by creation, newest first, then by id.

import type { Instant } from "./instant.ts";

export const PAGE_SIZE = { minimum: 1, maximum: 100, default: 10 } as const;
export const PAGE_NUMBER = { minimum: 1, maximum: 2_147_483_647, default: 1 } as const;

export type PageQuery = {
  /** Both bounds are inclusive. */
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  readonly page: number;
  readonly size: number;
};

/** Data and total are from one snapshot. */
export type Page<T> = {
  readonly data: readonly T[];
  readonly totalItems: number;
};
