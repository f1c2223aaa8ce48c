// The action `show`, which customers, tanks and devices have in common.

import type { Command } from "./command.ts";
import { idIn, managing } from "./managing.ts";
import { pathTo } from "./request.ts";
import { JSON_FLAG, show } from "./show.ts";

type Inspected = { readonly noun: string; readonly example: string; readonly help: string };

export function inspecting({ noun, example, help }: Inspected): Command {
  return managing({
    name: "show",
    summary: `show all of a ${noun}`,
    usage: "ID [--json]",
    help,
    example: `${noun} show ${example}`,
    most: 1,
    flags: JSON_FLAG,
    plan(call) {
      const id = idIn(call, noun);
      return async (service) => show(call, await service.ask({ method: "GET", path: pathTo(`${noun}s`, id) }));
    },
  });
}
