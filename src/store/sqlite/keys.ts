// Keys: looked up by the hash of their secret.

import type { DatabaseSync } from "node:sqlite";
import type { KeyChange } from "../../domain/commands/command.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Role, StoredKey } from "../../domain/key.ts";

const SELECT = `
  SELECT k.id, k.name, k.role, k.customer_id, k.device_id, k.rate, k.created_at, k.expires_at, k.revoked_at,
    k.replaced_by,
    coalesce(c.deleted, 0) AS customer_deleted
  FROM api_key k LEFT JOIN customer c ON c.id = k.customer_id`;

function keyOf(row: Record<string, unknown>): StoredKey {
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
  const byId = db.prepare(`${SELECT} WHERE k.id = ?`);
  const list = db.prepare(`${SELECT} ORDER BY k.created_at DESC, k.id DESC`);
  return {
    keyByHash(hash: string): StoredKey | undefined {
      const row = byHash.get(hash);
      return row === undefined ? undefined : keyOf(row);
    },
    keyById(id: string): StoredKey | undefined {
      const row = byId.get(id);
      return row === undefined ? undefined : keyOf(row);
    },
    keyList: (): StoredKey[] => list.all().map(keyOf),
  };
}

export function keyWrites(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO api_key (id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at,
       replaced_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = db.prepare(
    "UPDATE api_key SET name = ?, rate = ?, expires_at = ?, revoked_at = ?, replaced_by = ? WHERE id = ?",
  );

  return {
    putKeys(changes: readonly KeyChange[]): void {
      for (const { after, hash } of changes) {
        const { id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by } = after;
        if (hash === undefined) update.run(name, rate, expires_at, revoked_at, replaced_by, id);
        else insert.run(id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by);
      }
    },
  };
}
