// What the suite asks of an engine besides the port itself.

import type { Store } from "../../../src/domain/store.ts";
import type { Lifetime } from "../../support/service.ts";

export type Opened = {
  /** On a new, empty database. Closing it twice does no harm. */
  readonly store: Store;
  /** One more store on the same database, whether or not the first is closed by now. */
  readonly reopen: () => Promise<Store>;
  /** A store on what `backup` wrote. */
  readonly restored: (file: string) => Promise<Store>;
  /** A place for files. */
  readonly folder: string;
  /** What `openStore` takes, for a process of its own. */
  readonly url: string;
  /** Resolves when nothing of a process that was killed is under way any more: a write of it is there by now, or never. */
  readonly settled: () => Promise<void>;
};

export type Engine = {
  readonly name: string;
  /** Everything opened is closed, and everything made is removed, when the life ends. */
  readonly open: (life: Lifetime) => Promise<Opened>;
};
