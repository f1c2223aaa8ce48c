// Commands on users. Some admin is left whatever is done: otherwise nobody could create another one by signing in.

import { type AuditedChange, type AuditedFields, differences } from "../audit.ts";
import { hasSameFields } from "../changes.ts";
import { type Instant, nextUpdatedAt } from "../instant.ts";
import type { Lookups } from "../lookups.ts";
import { userResource } from "../resource.ts";
import { object, partial, type Static } from "../schema.ts";
import { asciiLowerCase } from "../text.ts";
import { type User, UserObject, userObject } from "../user.ts";
import { errorsInObject } from "../validate.ts";
import {
  type CommandError,
  type Commands,
  changeSet,
  commandError,
  existing,
  type IfMatch,
  invalidFields,
  isCommandError,
  type PlanResult,
} from "./command.ts";

const MAX_USERS = 1000;

const { email, name, role } = UserObject.properties;
export const NewUser = object({ email, name, role }, { description: "A user to create" });
export const UserChangeObject = partial(NewUser, { description: "The fields to change" });

export async function createUser(lookups: Lookups, { newId, fields }: Commands["create_user"], at: Instant): PlanResult {
  const errors = errorsInObject(NewUser, fields);
  if (errors.length > 0) return invalidFields(errors);
  const after: User = { ...(fields as Static<typeof NewUser>), id: newId, created_at: at, updated_at: at };
  const users = await lookups.userList();
  const conflict = emailConflict(users, after);
  if (conflict !== undefined) return conflict;
  if (users.length >= MAX_USERS) {
    return commandError("state_conflict", `There are ${MAX_USERS} users, and there cannot be more. Remove one first.`);
  }
  const change = { before: undefined, after };
  return changeSet(userResource(after), { users: [change], audit: [auditOf(undefined, after, "created")] });
}

/** Another role or address ends the sessions. */
export async function changeUser(lookups: Lookups, command: Commands["change_user"], at: Instant): PlanResult {
  const { id, fields, ifMatch } = command;
  const users = await lookups.userList();
  const before = existingUser(users, id, ifMatch);
  if (isCommandError(before)) return before;
  const errors = errorsInObject(UserChangeObject, fields);
  if (errors.length > 0) return invalidFields(errors);
  const wanted = { ...before, ...(fields as Static<typeof UserChangeObject>) };
  if (hasSameFields(wanted, before)) return changeSet(userResource(before), {});
  if (wanted.role !== "admin" && isLastAdmin(users, before)) return lastAdmin("have another role");
  const conflict = emailConflict(users, wanted);
  if (conflict !== undefined) return conflict;
  const after = { ...wanted, updated_at: nextUpdatedAt(before.updated_at, at) };
  const endsSessions = after.role !== before.role || after.email !== before.email;
  return changeSet(userResource(after), {
    users: [{ before, after }],
    sessionsEnded: endsSessions ? await sessionIds(lookups, id) : [],
    audit: [auditOf(before, after, "changed")],
  });
}

export async function removeUser(lookups: Lookups, { id, ifMatch }: Commands["remove_user"]): PlanResult {
  const users = await lookups.userList();
  const before = existingUser(users, id, ifMatch);
  if (isCommandError(before)) return before;
  if (isLastAdmin(users, before)) return lastAdmin("be removed");
  const { etag } = userResource(before);
  return changeSet(
    { object: { id, object: "user", deleted: true }, etag },
    {
      users: [{ before, after: undefined }],
      sessionsEnded: await sessionIds(lookups, id),
      audit: [auditOf(before, undefined, "deleted")],
    },
  );
}

export function existingUser(users: readonly User[], id: string, ifMatch: IfMatch): User | CommandError {
  const found = users.find((user) => user.id === id);
  return existing("user", found, ifMatch, userResource);
}

const isLastAdmin = (users: readonly User[], { id, role }: User): boolean =>
  role === "admin" && !users.some((other) => other.role === "admin" && other.id !== id);

const lastAdmin = (what: string): CommandError =>
  commandError("state_conflict", `This is the last admin, who cannot ${what}. Make somebody else an admin first.`);

function emailConflict(users: readonly User[], { id, email }: User): CommandError | undefined {
  const other = users.find((user) => user.id !== id && asciiLowerCase(user.email) === asciiLowerCase(email));
  return other && commandError("state_conflict", `The user ${other.id} (${other.name}) has this address already.`);
}

/** All of them: those that have expired count, too. */
async function sessionIds(lookups: Lookups, id: string): Promise<string[]> {
  return (await lookups.sessionsOf({ type: "user", id }, 0)).map((session) => session.id);
}

function auditOf(before: User | undefined, after: User | undefined, action: AuditedChange["action"]): AuditedChange {
  const changes = differences(auditedFields(before), auditedFields(after));
  return { object: "user", id: (after ?? before)?.id ?? "", action, changes };
}

function auditedFields(user: User | undefined): AuditedFields {
  if (user === undefined) return {};
  const { id, object, created_at, updated_at, ...fields } = userObject(user);
  return fields;
}
