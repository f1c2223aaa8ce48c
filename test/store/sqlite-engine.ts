// SQLite as the suite of all engines sees it.

import { databaseFolder } from "../support/stores.ts";
import type { Engine } from "./conformance/engine.ts";

export const sqliteEngine: Engine = {
  name: "sqlite",
  async open(life) {
    const folder = databaseFolder(life);
    return {
      store: await folder.open(),
      reopen: () => folder.open(),
      restored: folder.open,
      folder: folder.path,
      url: `sqlite:${folder.file}`,
      // What a process had not committed goes with it.
      settled: async () => {},
    };
  },
};
