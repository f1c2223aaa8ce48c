import { command, tankFields } from "./commands.ts";

export const order = {
  ...command,
  forgetDevice: command.removeDevice,
  addKey: command.createKey,
  replaceKey: command.rotateKey,
};
export { tankFields };
