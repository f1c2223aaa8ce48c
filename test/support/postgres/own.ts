// A PostgreSQL server of a test's own, which the test may stop, kill, start again and make replicas of.

import type { Lifetime } from "../service.ts";
import type { Ending } from "./cluster.ts";
import { Keeper } from "./keep.ts";
import type { Kept } from "./orders.ts";

export type OwnPostgres = {
  /** Of its database `postgres`; the same when it starts again. */
  readonly url: string;
  /** Of its main process, while it runs. */
  readonly pid: () => number | undefined;
  /** Resolves when the server is gone. Sessions of a killed one may live for a moment longer. */
  readonly stop: (how: Ending) => Promise<void>;
  /** Resolves when the server answers, on its old port and with its old data. */
  readonly start: () => Promise<void>;
  /** A streaming replica that answers already, and may be some way behind. */
  readonly replica: () => Promise<OwnPostgres>;
};

export async function ownPostgres(life: Lifetime): Promise<OwnPostgres> {
  const keeper = new Keeper();
  life.after(() => keeper.end());
  return inHand(keeper, await keeper.tell({ do: "make" }));
}

function inHand(keeper: Keeper, made: Kept): OwnPostgres {
  const { server, url } = made;
  let { pid } = made;
  return {
    url,
    pid: () => pid,
    async stop(how) {
      ({ pid } = await keeper.tell({ do: "stop", server, how }));
    },
    async start() {
      ({ pid } = await keeper.tell({ do: "start", server }));
    },
    replica: async () => inHand(keeper, await keeper.tell({ do: "replica", server })),
  };
}
