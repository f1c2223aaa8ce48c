// Checks users and sessions.

import { asciiLowerCase } from "../../domain/text.ts";
import { errorInUser, type User } from "../../domain/user.ts";
import { USERS, userOf } from "../core/account-tables.ts";
import type { RunQuery } from "../core/sql-runner.ts";
import { type CheckResult, repairable, unrepairable } from "./inconsistency.ts";

/** A session belongs to a user or to a customer. */
const LOST_SESSIONS = `SELECT s.id FROM session s
  LEFT JOIN app_user u ON u.id = s.user_id LEFT JOIN customer c ON c.id = s.customer_id
  WHERE (u.id IS NULL AND c.id IS NULL) OR (s.user_id IS NOT NULL AND s.customer_id IS NOT NULL)`;

export function accountOperations({ rows }: { readonly rows: RunQuery }) {
  return {
    allUsers: async (): Promise<readonly User[]> => (await rows(USERS)).map(userOf),
    lostSessions: async (): Promise<readonly string[]> => (await rows(LOST_SESSIONS)).map(([id]) => String(id)),
  };
}

type AccountOperations = ReturnType<typeof accountOperations>;

export async function checkAccounts(reads: AccountOperations): Promise<CheckResult[]> {
  const users = await reads.allUsers();
  const addresses = Map.groupBy(users, ({ email }) => asciiLowerCase(email));
  const results = users.map((user) => {
    const [first] = addresses.get(asciiLowerCase(user.email)) ?? [];
    const repeated = first === user ? undefined : `email: user ${first?.id} has the same one`;
    const error = errorInUser(user) ?? repeated;
    return { where: `user ${user.id}`, found: error === undefined ? [] : unrepairable(`${error}; change or remove the user`) };
  });
  const hasAdmin = users.length === 0 || users.some(({ role }) => role === "admin");
  const lost = await reads.lostSessions();
  return [
    ...results,
    { where: "users", found: hasAdmin ? [] : unrepairable("none of them is an admin: create one, or change a role") },
    {
      where: "sessions",
      found: lost.length === 0 ? [] : repairable(`${lost.length} without a user or customer (first: ${lost[0]})`),
    },
  ];
}
