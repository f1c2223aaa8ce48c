// Which order is decided where.

import type { Instant } from "../instant.ts";
import { changeCustomer, createCustomer, deleteCustomer, restoreCustomer } from "./customers.ts";
import { forgetDevice, putDevice } from "./devices.ts";
import { addKey, changeKey, replaceKey, revokeKey } from "./keys.ts";
import type { Deciding, Order } from "./order.ts";
import { provision } from "./provision.ts";
import { changeTank, createTank, deleteTank, restoreTank } from "./tanks.ts";

export function deciding(order: Order, at: Instant): Deciding {
  switch (order.order) {
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
    case "forget_device":
      return forgetDevice(order.id, order.ifMatch);
    case "add_key":
      return addKey(order.key, order.hash, at);
    case "replace_key":
      return replaceKey(order.id, order.overlap, order.newId, order.hash, at);
    case "change_key":
      return changeKey(order.id, order.fields, order.ifMatch, at);
    case "revoke_key":
      return revokeKey(order.id, order.ifMatch, at);
    case "provision":
      return provision(order, order.isDry, at);
  }
}
