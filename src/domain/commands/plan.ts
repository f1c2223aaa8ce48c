// Maps each command to the function that plans it.

import type { Instant } from "../instant.ts";
import type { Lookups } from "../lookups.ts";
import type { ChangeSet, Command, CommandError } from "./command.ts";
import { changeCustomer, createCustomer, deleteCustomer, restoreCustomer } from "./customers.ts";
import { putDevice, removeDevice } from "./devices.ts";
import { changeKey, createKey, revokeKey, rotateKey } from "./keys.ts";
import { provision } from "./provision.ts";
import { changeTank, createTank, deleteTank, restoreTank } from "./tanks.ts";

export function planCommand(lookups: Lookups, command: Command, at: Instant): Promise<ChangeSet | CommandError> {
  switch (command.type) {
    case "create_customer":
      return createCustomer(lookups, command.newId, command.fields, at);
    case "change_customer":
      return changeCustomer(lookups, command.id, command.fields, command.ifMatch, at);
    case "delete_customer":
      return deleteCustomer(lookups, command.id, command.tanks, command.ifMatch);
    case "restore_customer":
      return restoreCustomer(lookups, command.id, command.tanks, command.ifMatch);
    case "create_tank":
      return createTank(lookups, command.newId, command.fields, at);
    case "change_tank":
      return changeTank(lookups, command.id, command.fields, command.ifMatch, command.swap, at);
    case "delete_tank":
      return deleteTank(lookups, command.id, command.ifMatch);
    case "restore_tank":
      return restoreTank(lookups, command.id, command.fields, command.ifMatch, at);
    case "put_device":
      return putDevice(lookups, command.id, command.fields, command.ifMatch, command.swap, at);
    case "remove_device":
      return removeDevice(lookups, command.id, command.ifMatch);
    case "create_key":
      return createKey(lookups, command.key, command.hash, at);
    case "rotate_key":
      return rotateKey(lookups, command.id, command.overlap, command.newId, command.hash, at);
    case "change_key":
      return changeKey(lookups, command.id, command.fields, command.ifMatch, at);
    case "revoke_key":
      return revokeKey(lookups, command.id, command.ifMatch, at);
    case "provision":
      return provision(lookups, command, command.isDryRun, at);
  }
}
