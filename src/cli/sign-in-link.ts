// tank-monitor user link, tank-monitor customer link

import { apiCommand } from "./api-command.ts";
import { type CliCommand, configOf, text } from "./command.ts";
import { clean, print, printMessage } from "./output.ts";
import { pathTo, type Service } from "./service.ts";

type LinkCommand = {
  readonly noun: "user" | "customer";
  readonly example: string;
  /** More to say in the help. */
  readonly help?: string;
  /** The id of the account that the argument names; the argument itself by default. */
  readonly resolveId?: (service: Service, given: string) => Promise<string>;
};

export function linkCommand({ noun, example, help = "", resolveId }: LinkCommand): CliCommand {
  return apiCommand({
    name: "link",
    summary: `print a link that signs a ${noun} in`,
    help: `Print a link that signs a ${noun} in, for use without mail. It works once, within 10 minutes.${help}
It leads to PUBLIC_URL if that is set, else to --url, else to this machine and PORT (8080), as in
PORT=9000 npx tank-monitor ${example}`,
    example,
    argumentNames: [noun],
    async execute({ call, id: given, service }) {
      const id = resolveId === undefined ? given : await resolveId(service, given);
      const { url } = await service({ method: "POST", path: pathTo(`${noun}s`, id, "link"), notIdempotent: true });
      const { port } = configOf(call);
      const base = text(call, "url")?.replace(/\/+$/, "") ?? `http://127.0.0.1:${port}`;
      const isPath = String(url).startsWith("/");
      print(clean(isPath ? `${base}${url}` : String(url)));
      printMessage("The link works once, within 10 minutes.");
      if (isPath && text(call, "url") === undefined) {
        printMessage(`It leads to port ${port} of this machine; if the service listens on another port, set PORT.`);
      }
      return 0;
    },
  });
}
