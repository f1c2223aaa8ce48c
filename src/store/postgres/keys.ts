// Keys: looked up by the hash of their secret.

import type { Instant } from "../../domain/instant.ts";
import type { Key, KnownKey, Role } from "../../domain/key.ts";
import { type Db, type Row, statement } from "./connection.ts";

const SELECT = `
  SELECT k.id, k.name, k.role, k.customer_id, k.device_id, k.rate, k.created_at, k.expires_at, k.revoked_at,
    k.replaced_by, coalesce(c.deleted, false)
  FROM api_key k LEFT JOIN customer c ON c.id = k.customer_id`;

const BY_HASH = statement(`${SELECT} WHERE k.hash = $1`); // api_key's unique index on hash
const ALL = statement(`${SELECT} ORDER BY k.created_at DESC, k.id DESC`);
const INSERT = statement(
  `INSERT INTO api_key (id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
const REPLACE = statement(
  `UPDATE api_key SET expires_at = $1, replaced_by = $2 WHERE id = $3 AND revoked_at IS NULL AND replaced_by IS NULL
   RETURNING id`,
);
const REVOKE = statement("UPDATE api_key SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL");

function keyOf(row: Row): KnownKey {
  const [id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by, customer_deleted] = row;
  return {
    id: id as string,
    name: name as string,
    role: role as Role,
    customer_id: customer_id as string | null,
    device_id: device_id as string | null,
    rate: rate as number | null,
    created_at: created_at as Instant,
    expires_at: expires_at as Instant | null,
    revoked_at: revoked_at as Instant | null,
    replaced_by: replaced_by as string | null,
    customer_deleted: customer_deleted as boolean,
  };
}

export function keyQuestions(db: Db) {
  return {
    async keyByHash(hash: string): Promise<KnownKey | undefined> {
      const [row] = await db.rows(BY_HASH, [hash]);
      return row === undefined ? undefined : keyOf(row);
    },
    keyList: async (): Promise<KnownKey[]> => (await db.rows(ALL)).map(keyOf),
  };
}

export async function addKey(db: Db, key: Key, hash: string): Promise<void> {
  const { id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by } = key;
  await db.rows(INSERT, [id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by]);
}

export async function replaceKey(db: Db, oldId: string, oldExpiresAt: Instant, key: Key, hash: string): Promise<boolean> {
  if ((await db.rows(REPLACE, [oldExpiresAt, key.id, oldId])).length === 0) return false;
  await addKey(db, key, hash);
  return true;
}

export async function revokeKey(db: Db, id: string, at: Instant): Promise<void> {
  await db.rows(REVOKE, [at, id]);
}
