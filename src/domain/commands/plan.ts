// Maps each command to the function that plans it.

import type { Instant } from "../instant.ts";
import type { Lookups } from "../lookups.ts";
import { acknowledgeAlert, changeAlert, closeAlert } from "./alerts.ts";
import { changeChannel, createChannel, deleteChannel, rotateChannel } from "./channels.ts";
import type { CommandOf, Commands, PlanResult } from "./command.ts";
import { changeCustomer, createCustomer, deleteCustomer, restoreCustomer } from "./customers.ts";
import { putDevice, removeDevice } from "./devices.ts";
import { changeKey, createKey, revokeKey, rotateKey } from "./keys.ts";
import { recoverChannel, recoverMail, retryNotification, testChannel } from "./notifications.ts";
import { provision } from "./provision.ts";
import { createSignInLink, endSession, requestSignIn, signIn } from "./sign-in.ts";
import { changeTank, createTank, deleteTank, restoreTank } from "./tanks.ts";
import { changeUser, createUser, removeUser } from "./users.ts";
import { requestVerification, verifyCustomer } from "./verification.ts";

const PLANS: { readonly [T in keyof Commands]: (lookups: Lookups, command: Commands[T], at: Instant) => PlanResult } = {
  create_customer: createCustomer,
  change_customer: changeCustomer,
  delete_customer: deleteCustomer,
  restore_customer: restoreCustomer,
  request_verification: requestVerification,
  verify_customer: verifyCustomer,
  create_tank: createTank,
  change_tank: changeTank,
  delete_tank: deleteTank,
  restore_tank: restoreTank,
  put_device: putDevice,
  remove_device: removeDevice,
  create_key: createKey,
  change_key: changeKey,
  rotate_key: rotateKey,
  revoke_key: revokeKey,
  acknowledge_alert: acknowledgeAlert,
  close_alert: closeAlert,
  change_alert: changeAlert,
  create_channel: createChannel,
  change_channel: changeChannel,
  delete_channel: deleteChannel,
  rotate_channel: rotateChannel,
  test_channel: testChannel,
  recover_channel: recoverChannel,
  recover_mail: recoverMail,
  retry_notification: retryNotification,
  create_user: createUser,
  change_user: changeUser,
  remove_user: removeUser,
  create_sign_in_link: createSignInLink,
  request_sign_in: requestSignIn,
  sign_in: signIn,
  end_session: endSession,
  provision,
};

export function planCommand<T extends keyof Commands>(lookups: Lookups, command: CommandOf<T>, at: Instant): PlanResult {
  return PLANS[command.type](lookups, command, at);
}
