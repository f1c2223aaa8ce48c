// Links that verify the addresses of customers, in SQL for both engines.

import type { Instant } from "../../domain/instant.ts";
import type { EmailVerification, VerificationMail } from "../../domain/verification.ts";
import type { Row } from "../columns.ts";
import type { Prepare } from "./sql-runner.ts";

const VERIFICATION_BY_HASH = "SELECT hash, customer_id, email, expires_at FROM verification WHERE hash = $1";

const verificationOf = ([hash, customer_id, email, expires_at]: Row): EmailVerification =>
  ({ hash, customer_id, email, expires_at }) as EmailVerification;

export function verificationTables(prepare: Prepare) {
  return {
    verification: async (hash: string): Promise<EmailVerification | undefined> =>
      (await prepare(VERIFICATION_BY_HASH)(hash)).map(verificationOf)[0],

    async verificationMailSince(customerId: string, since: Instant): Promise<readonly VerificationMail[]> {
      const rows = await prepare(
        `SELECT id, created_at, state FROM notification WHERE customer_id = $1 AND created_at > $2 AND event = 'customer.verification'
         ORDER BY created_at, id`, // notification_by_customer
      )(customerId, since);
      return rows.map(([id, created_at, state]) => ({
        id: String(id),
        created_at: Number(created_at),
        isPending: state === "pending",
      }));
    },

    async removeVerifications(customerId: string): Promise<void> {
      await prepare("DELETE FROM verification WHERE customer_id = $1")(customerId); // verification_by_customer
    },

    /** Those of earlier attempts stay valid: one of them may have arrived although the attempt failed. */
    async addVerification({ hash, customer_id, email, expires_at }: EmailVerification): Promise<void> {
      const add = prepare("INSERT INTO verification (hash, customer_id, email, expires_at) VALUES ($1, $2, $3, $4)");
      await add(hash, customer_id, email, expires_at);
    },
  };
}
