// tank-monitor openapi

import { VERSION } from "../app.ts";
import { openapiDocument } from "../http/openapi.ts";
import { ROUTES } from "../http/server.ts";
import { type Command, print } from "./command.ts";

export const openapi: Command = {
  name: "openapi",
  summary: "print the OpenAPI document",
  usage: "",
  help: "Prints the OpenAPI 3.1 document of the interface, as it is served at /openapi.json.",
  most: 0,
  flags: {},
  async run() {
    print(JSON.stringify(openapiDocument(ROUTES, VERSION), null, 2));
    return 0;
  },
};
