// tank-monitor openapi

import { VERSION } from "../version.ts";
import { type Command, print } from "./command.ts";

export const openapi: Command = {
  name: "openapi",
  summary: "print the OpenAPI document",
  usage: "",
  help: "Prints the OpenAPI 3.1 document of the interface, as it is served at /openapi.json.",
  most: 0,
  flags: {},
  async run() {
    // Not before it is needed: no other command should pay for it.
    const [{ formatDocument, openapiDocument }, { ROUTES }] = await Promise.all([
      import("../http/openapi.ts"),
      import("../http/routes.ts"),
    ]);
    print(formatDocument(openapiDocument(ROUTES, VERSION)));
    return 0;
  },
};
