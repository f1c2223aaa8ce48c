// Which order is decided where.

import type { Instant } from "../instant.ts";
import type { Command, Planning } from "./command.ts";
import { changeCustomer, createCustomer, deleteCustomer, restoreCustomer } from "./customers.ts";
import { putDevice, removeDevice } from "./devices.ts";
import { changeKey, createKey, revokeKey, rotateKey } from "./keys.ts";
import { provision } from "./provision.ts";
import { changeTank, createTank, deleteTank, restoreTank } from "./tanks.ts";

export function planCommand(order: Command, at: Instant): Planning {
  switch (order.type) {
    case "create_customer":
      return createCustomer(order.newId, order.fields, at);
    case "change_customer":
      return changeCustomer(order.id, order.fields, order.ifMatch, at);
    case "delete_customer":
      return deleteCustomer(order.id, order.tanks, order.ifMatch);
    case "restore_customer":
      return restoreCustomer(order.id, order.tanks, order.ifMatch);
    case "create_tank":
      return createTank(order.newId, order.fields, at);
    case "change_tank":
      return changeTank(order.id, order.fields, order.ifMatch, order.swap, at);
    case "delete_tank":
      return deleteTank(order.id, order.ifMatch);
    case "restore_tank":
      return restoreTank(order.id, order.fields, order.ifMatch, at);
    case "put_device":
      return putDevice(order.id, order.fields, order.ifMatch, order.swap, at);
    case "remove_device":
      return removeDevice(order.id, order.ifMatch);
    case "create_key":
      return createKey(order.key, order.hash, at);
    case "rotate_key":
      return rotateKey(order.id, order.overlap, order.newId, order.hash, at);
    case "change_key":
      return changeKey(order.id, order.fields, order.ifMatch, at);
    case "revoke_key":
      return revokeKey(order.id, order.ifMatch, at);
    case "provision":
      return provision(order, order.isDry, at);
  }
}
