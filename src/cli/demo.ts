import type { Command } from "./command.ts";
export const demo: Command = {
  name: "demo",
  summary: "look around in a simulated fleet",
  usage: "",
  help: "",
  flags: {},
  run: async () => 0,
};
