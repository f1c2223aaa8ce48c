import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import fc from "fast-check";
import { hashSecret, isWellFormedSecret, KEY_DEFAULTS, keyState, newSecret, type StoredKey } from "../../src/domain/key.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secrets = fc.infiniteStream(fc.nat({ max: 61 })).map((stream) => newSecret(() => stream.next().value as number));

test("a secret is tm_ and 36 letters and digits, and well-formed", () => {
  for (let i = 0; i < 1000; i++) {
    const secret = newSecret();
    assert.match(secret, /^tm_[0-9A-Za-z]{36}$/);
    assert.ok(isWellFormedSecret(secret));
  }
});

test("no two secrets are the same, and every letter and digit occurs", () => {
  const created = Array.from({ length: 5000 }, () => newSecret());
  assert.equal(new Set(created).size, 5000);
  assert.equal(new Set(created.map((secret) => secret.slice(3, 33)).join("")).size, 62);
});

test("every change of a single character is detected", () => {
  fc.assert(
    fc.property(secrets, (secret) => {
      for (let i = 0; i < secret.length; i++) {
        for (const other of `${BASE62}_- é`) {
          if (other === secret[i]) continue;
          assert.ok(!isWellFormedSecret(secret.slice(0, i) + other + secret.slice(i + 1)), `${secret} with ${other} at ${i}`);
        }
      }
    }),
    { numRuns: 15 },
  );
});

test("every swap of two neighbouring characters is detected", () => {
  fc.assert(
    fc.property(secrets, (secret) => {
      for (let i = 0; i < secret.length - 1; i++) {
        const [a = "", b = ""] = [secret[i], secret[i + 1]];
        if (a !== b) assert.ok(!isWellFormedSecret(secret.slice(0, i) + b + a + secret.slice(i + 2)), `${secret} at ${i}`);
      }
    }),
    { numRuns: 200 },
  );
});

test("a secret that is cut, longer, framed or of another case is malformed", () => {
  const secret = newSecret(() => 40);
  const cuts = Array.from({ length: secret.length }, (_, i) => secret.slice(0, i));
  const framed = [`${secret}0`, ` ${secret}`, `${secret} `, `${secret}\n`];
  for (const text of [...cuts, ...framed, secret.toUpperCase(), secret.toLowerCase(), secret.slice(3)])
    assert.ok(!isWellFormedSecret(text), text);
});

test("the hash of a secret is its SHA-256", () => {
  const secret = newSecret();
  assert.equal(hashSecret(secret), createHash("sha256").update(secret).digest("hex"));
});

test("a key is active until it is revoked, expires or loses its customer", () => {
  const key: StoredKey = { ...KEY_DEFAULTS, id: "k", name: "k", customer_deleted: false };
  assert.equal(keyState(key, 1000), "active");
  assert.equal(keyState({ ...key, expires_at: 1001 }, 1000), "active");
  assert.equal(keyState({ ...key, expires_at: 1000 }, 1000), "expired");
  assert.equal(keyState({ ...key, revoked_at: 1 }, 1000), "revoked");
  assert.equal(keyState({ ...key, customer_deleted: true }, 1000), "customer_deleted");
  assert.equal(keyState({ ...key, customer_deleted: true, expires_at: 1, revoked_at: 1 }, 1000), "revoked");
});
