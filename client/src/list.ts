// A list: one page of it when awaited, all of it when iterated.

import { ApiError } from "./error.ts";

export type Fields = Readonly<Record<string, unknown>>;
/** Reads one page. */
type Read<Page> = (query: Fields) => Promise<Page>;
type DataPage = { readonly data: readonly Fields[] };
type FeedPage = DataPage & { readonly next_after: number; readonly has_more: boolean; readonly missed: boolean };

/**
 * `await` sends one request and gives one page. `for await` reads the whole list, with as many requests as it takes, of 100 items
 * or of `size`, but not of less than 20.
 */
export class List<Item, Page> implements Promise<Page>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = "List";
  readonly #read: () => Promise<Page>;
  readonly #iterate: () => AsyncGenerator<Item, void, undefined>;
  #page: Promise<Page> | undefined;

  constructor(read: () => Promise<Page>, iterate: () => AsyncGenerator<Item, void, undefined>) {
    this.#read = read;
    this.#iterate = iterate;
  }

  /** The page is requested when it is first awaited: an iteration does not need it. */
  #first(): Promise<Page> {
    this.#page ??= this.#read();
    return this.#page;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise of its page
  then<A = Page, B = never>(
    onPage?: ((page: Page) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#first().then(onPage, onError);
  }

  catch<B = never>(onError?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page | B> {
    return this.#first().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Page> {
    return this.#first().finally(onEnd);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    return this.#iterate();
  }
}

/** By the kind of list that the table of operations states. An abort also ends it between items of one page. */
export async function* iterate(read: Read<unknown>, query: Fields, kind: string, signal: AbortSignal | undefined) {
  const items =
    kind === "after"
      ? iterateFeed(read as Read<FeedPage>, query)
      : iterateItems(read as Read<DataPage>, query, kind === "page" ? undefined : kind);
  for await (const item of items) {
    signal?.throwIfAborted();
    yield item;
  }
}

const MAX_SIZE = 100;
/** Sizes from 11 to 20 find an overlapping page at any rank below 232,792,559; fewer sizes would soon find none. */
const MIN_SIZE = 20;

/**
 * Every item once, while others are inserted and removed before and after the position. The next request begins at the time of
 * the last item, and what was seen at that time is dropped. Where the list has no times, or more items of one time than fit
 * into a page, each page overlaps with what was seen: if it does not, items before it were removed, and an earlier one is read.
 */
async function* iterateItems(read: Read<DataPage>, query: Fields, timeField: string | undefined) {
  if (query["page"] !== undefined) throw new TypeError("An iteration reads the whole list: page cannot be given.");
  const limit = Math.max(MIN_SIZE, Number(query["size"] ?? MAX_SIZE));
  /** Time of the last item; null before the first. */
  let time: unknown = null;
  /** The items of that time; all where the list has none. */
  const seen = new Set<unknown>();
  /** Rank of the last item, among those from `time` on. */
  let rank = 0;
  for (;;) {
    const { page, size } = pageFrom(rank, limit);
    const bound = timeField === undefined || time === null ? {} : { [`${timeField}_lte`]: time };
    const { data } = await read({ ...query, ...bound, page, size });
    if (page > 1 && !data.some((item) => seen.has(identityOf(item)))) {
      rank = Math.max(0, rank - size);
      continue;
    }
    let isLater = false;
    for (const item of data) {
      const itemTime = timeField === undefined ? undefined : item[timeField];
      if (itemTime !== time) {
        time = itemTime;
        seen.clear();
        isLater = true;
      }
      const identity = identityOf(item);
      if (seen.has(identity)) continue;
      seen.add(identity);
      yield item;
    }
    if (data.length < size) return;
    rank = isLater ? seen.size - 1 : (page - 1) * size + size - 1;
  }
}

/** The page that contains `rank` and most of what follows it. */
function pageFrom(rank: number, limit: number): { readonly page: number; readonly size: number } {
  let best = limit;
  for (let size = limit; size > limit / 2; size--) {
    if (size - (rank % size) > best - (rank % best)) best = size;
  }
  return { page: Math.floor(rank / best) + 1, size: best };
}

/** Audit entries have numbers, entries of the fleet their tanks, refills and readings only times. */
function identityOf({ number, id, tank, started_at, created_at }: Fields): unknown {
  return number ?? id ?? (tank as Fields | undefined)?.["id"] ?? started_at ?? created_at;
}

/** Up to the newest event. */
async function* iterateFeed(read: Read<FeedPage>, query: Fields) {
  for (let after = query["after"]; ; ) {
    const { data, next_after, has_more, missed } = await read({ size: MAX_SIZE, ...query, after });
    if (missed && after !== undefined) {
      throw new ApiError(
        "events_missed",
        `Events after ${after} may have been removed. Read the alerts, then go on after ${next_after}.`,
      );
    }
    yield* data;
    if (!has_more) return;
    after = next_after;
  }
}
