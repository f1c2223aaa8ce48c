// Carries orders out: asks, decides, writes, notes down, all in one transaction; and once, where it may arrive twice.

import type { DatabaseSync } from "node:sqlite";
import type { AuditContext } from "../../domain/audit.ts";
import {
  type Command,
  type CommandResult,
  commandError,
  IDEMPOTENCY_MS,
  type IdempotencyKey,
  isCommandError,
} from "../../domain/commands/command.ts";
import { planCommand } from "../../domain/commands/plan.ts";
import { withReleased } from "../../domain/commands/released.ts";
import { type Answering, settle } from "../../domain/inquiry.ts";
import type { Resource } from "../../domain/resource.ts";
import type { arrivalWrites } from "./arrivals.ts";
import { auditWrites } from "./audit.ts";
import type { customerWrites } from "./customers.ts";
import { deviceWrites, waitingWrites } from "./devices.ts";
import { keyWrites } from "./keys.ts";
import { arrayRow, arrayStatement } from "./rows.ts";
import type { tankWrites } from "./tanks.ts";

type Parts = {
  readonly answers: Answering;
  readonly customers: ReturnType<typeof customerWrites>;
  readonly tanks: ReturnType<typeof tankWrites>;
  readonly arrivals: ReturnType<typeof arrivalWrites>;
};

export function orderWrites(db: DatabaseSync, { answers, customers, tanks, arrivals }: Parts) {
  const { note } = auditWrites(db);
  const { putProfiles, forget, waitingOfTank } = deviceWrites(db);
  const { forgetWaiting } = waitingWrites(db);
  const { putKeys } = keyWrites(db);
  const reshape = db.prepare("UPDATE tank SET shape = ? WHERE id = ?");
  const { before, remember } = onceWrites(db);

  return {
    execute(order: Command, occasion: AuditContext, once?: IdempotencyKey): CommandResult {
      const known = once === undefined ? undefined : before(once, occasion);
      if (known !== undefined) return known;
      const decided = settle(planCommand(order, occasion.at), answers);
      if (isCommandError(decided)) return decided;
      customers.write(decided.customers, occasion);
      const moved = tanks.write(decided.tanks, occasion);
      for (const [id, shape] of decided.shapes) reshape.run(shape === null ? null : JSON.stringify(shape), id);
      putProfiles(decided.devices);
      forgetWaiting(decided.pendingRemoved);
      forget(decided.devicesRemoved);
      putKeys(decided.keys);
      note(decided.audit, occasion);
      const taken = arrivals.drain([
        ...new Set([...moved, ...decided.devices.map(({ id }) => id), ...[...decided.shapes.keys()].flatMap(waitingOfTank)]),
      ]);
      const shown = withReleased(decided.resource, taken);
      if (once !== undefined) remember(once, occasion, shown);
      return { resource: shown, replayed: false };
    },
  };
}

const FORGOTTEN_AT_ONCE = 500;

function onceWrites(db: DatabaseSync) {
  const known = arrayStatement(db, "SELECT asked, answer FROM once WHERE who = ? AND key = ? AND at > ?");
  const put = db.prepare("INSERT OR REPLACE INTO once (who, key, at, asked, answer) VALUES (?, ?, ?, ?, ?)");
  // By once_by_time.
  const forget = db.prepare(
    `DELETE FROM once WHERE (who, key) IN (SELECT who, key FROM once WHERE at <= ? ORDER BY at LIMIT ${FORGOTTEN_AT_ONCE})`,
  );
  return {
    before({ key, fingerprint: asked }: IdempotencyKey, { by, at }: AuditContext): CommandResult | undefined {
      const row = arrayRow(known.get(by, key, at - IDEMPOTENCY_MS));
      if (row === undefined) return undefined;
      if (row[0] === asked) return { resource: JSON.parse(String(row[1])) as Resource, replayed: true };
      return commandError(
        "idempotency_key_reused",
        "This Idempotency-Key was used for another request within the last 24 hours.",
      );
    },

    remember({ key, fingerprint: asked }: IdempotencyKey, { by, at }: AuditContext, shown: Resource): void {
      put.run(by, key, at, asked, JSON.stringify(shown));
      forget.run(at - IDEMPOTENCY_MS);
    },
  };
}
