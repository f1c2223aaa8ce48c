// The embedded engine against the suite of all engines.

import { databaseFolder } from "../support/stores.ts";
import { conformance } from "./conformance.ts";

conformance({
  name: "sqlite",
  async open(life) {
    const folder = databaseFolder(life);
    return { store: await folder.open(), reopen: () => folder.open(), restored: folder.open, folder: folder.path };
  },
});
