// A user: a member of the operator's staff, who signs in. What a user may do follows from the role; each role may do what the
// one before may.

import { mailAddress } from "./alerts/channel.ts";
import { errorInInstants, formatInstant, type Instant } from "./instant.ts";
import { idField, instantField, literal, object, oneOf, type Static, textField } from "./schema.ts";
import { errorInObject } from "./validate.ts";

export const USER_ROLES = ["viewer", "dispatcher", "admin"] as const;
export type UserRole = (typeof USER_ROLES)[number];

export type User = {
  readonly id: string;
  /** No two users have the same one, in whatever case of A to Z. */
  readonly email: string;
  readonly name: string;
  readonly role: UserRole;
  readonly created_at: Instant;
  readonly updated_at: Instant;
};

export const UserObject = object(
  {
    id: idField("Identifier of the user", "usr_01kxa8w5s0v3m4q9t7r2n6c8d1"),
    object: literal("user", { description: "Always `user`" }),
    email: { ...mailAddress, description: "The address that sign-in mail goes to" },
    name: textField("The name of the person", "Dana Fischer"),
    role: oneOf(USER_ROLES, {
      description:
        "viewer: reads the fleet, tanks, alerts and customers; dispatcher: also changes them; admin: everything, also keys, channels and users",
      examples: ["dispatcher"],
    }),
    created_at: instantField("When the user was created"),
    updated_at: instantField("When it was last changed"),
  },
  { description: "A member of the operator's staff, who signs in" },
);

export function userObject(user: User): Static<typeof UserObject> {
  const { id, email, name, role, created_at, updated_at } = user;
  return {
    id,
    object: "user",
    email,
    name,
    role,
    created_at: formatInstant(created_at),
    updated_at: formatInstant(updated_at),
  };
}

/** What is wrong with a stored user. */
export function errorInUser(user: User): string | undefined {
  const { created_at, updated_at } = user;
  return errorInInstants({ created_at, updated_at }) ?? errorInObject(UserObject, userObject(user));
}
