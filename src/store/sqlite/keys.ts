// Keys: looked up by the hash of their secret.

import type { DatabaseSync } from "node:sqlite";
import type { Instant } from "../../domain/instant.ts";
import type { Key, KnownKey, Role } from "../../domain/key.ts";

const SELECT = `
  SELECT k.id, k.name, k.role, k.customer_id, k.device_id, k.rate, k.created_at, k.expires_at, k.revoked_at,
    k.replaced_by,
    coalesce(c.deleted, 0) AS customer_deleted
  FROM api_key k LEFT JOIN customer c ON c.id = k.customer_id`;

function keyOf(row: Record<string, unknown>): KnownKey {
  return {
    id: row["id"] as string,
    name: row["name"] as string,
    role: row["role"] as Role,
    customer_id: row["customer_id"] as string | null,
    device_id: row["device_id"] as string | null,
    rate: row["rate"] as number | null,
    created_at: row["created_at"] as Instant,
    expires_at: row["expires_at"] as Instant | null,
    revoked_at: row["revoked_at"] as Instant | null,
    replaced_by: row["replaced_by"] as string | null,
    customer_deleted: row["customer_deleted"] === 1,
  };
}

export function keyQuestions(db: DatabaseSync) {
  const byHash = db.prepare(`${SELECT} WHERE k.hash = ?`); // api_key's unique index on hash
  const list = db.prepare(`${SELECT} ORDER BY k.created_at DESC, k.id DESC`);
  return {
    keyByHash(hash: string): KnownKey | undefined {
      const row = byHash.get(hash);
      return row === undefined ? undefined : keyOf(row);
    },
    keyList: (): KnownKey[] => list.all().map(keyOf),
  };
}

export function keyWrites(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO api_key (id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at,
       replaced_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const replace = db.prepare(
    "UPDATE api_key SET expires_at = ?, replaced_by = ? WHERE id = ? AND revoked_at IS NULL AND replaced_by IS NULL",
  );
  const revoke = db.prepare("UPDATE api_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL");

  function addKey(key: Key, hash: string): void {
    const { id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by } = key;
    insert.run(id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by);
  }

  return {
    addKey,
    replaceKey(oldId: string, oldExpiresAt: Instant, key: Key, hash: string): boolean {
      if (replace.run(oldExpiresAt, key.id, oldId).changes === 0) return false;
      addKey(key, hash);
      return true;
    },
    revokeKey(id: string, at: Instant): void {
      revoke.run(at, id);
    },
  };
}
