// tank-monitor openapi

import { VERSION } from "../version.ts";
import type { CliCommand } from "./command.ts";
import { print } from "./output.ts";

export const openapi: CliCommand = {
  name: "openapi",
  summary: "print the OpenAPI document",
  usage: "",
  help: "Print the OpenAPI 3.1 document of the API, the same as /openapi.json.",
  maxArguments: 0,
  flags: {},
  async run() {
    // Loaded late: the general help, which loads every command, does without them.
    const [{ formatDocument, openapiDocument }, { ROUTES }] = await Promise.all([
      import("../http/openapi.ts"),
      import("../http/routes.ts"),
    ]);
    print(formatDocument(openapiDocument(ROUTES, VERSION)));
    return 0;
  },
};
