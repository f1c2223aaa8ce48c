// Which addresses webhooks are sent to, when names resolve to anything, and to something else the next time.

import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../support/until.ts";
import { httpReceiver, httpsReceiver, openSender, recordingReceiver, webhook } from "./receiver.ts";

const METADATA = "169.254.169.254";
const found = (...addresses: string[]): LookupAddress[] => addresses.map((address) => ({ address, family: isIP(address) }));
/** Gives each list once, and the last one from then on. */
function resolver(...lists: readonly LookupAddress[][]) {
  const names: string[] = [];
  const resolve = async (name: string): Promise<LookupAddress[]> => lists[Math.min(names.push(name), lists.length) - 1] ?? [];
  return { names, resolve };
}
const codeError = (code: string): Error => Object.assign(new Error("lookup of SECRETNAME failed"), { code });

test("a name that resolves to an address that is not allowed is not connected to", async (t) => {
  const receiver = await httpsReceiver(t, (_, response) => response.end());
  for (const address of [
    "127.0.0.1",
    "10.0.0.5",
    "192.168.1.1",
    METADATA,
    "::1",
    "::ffff:127.0.0.1",
    "fd00:ec2::254",
    "64:ff9b::7f00:1",
  ]) {
    const sender = openSender(t, { opened: "", resolve: resolver(found(address)).resolve });
    const result = await sender.send(webhook(`https://hooks.example:${receiver.port}/`));
    assert.deepEqual(result, { status: null, error: `the name resolves to ${address}, which is not allowed` });
  }
  assert.equal(receiver.connections(), 0);
});

test("a name that was opened is connected to at any address but those of metadata services", async (t) => {
  const receiver = await recordingReceiver(t);
  const url = `http://hooks.example:${receiver.port}/`;
  const opened = "hooks.example";
  const { names, resolve } = resolver(found("127.0.0.1"));
  assert.equal((await openSender(t, { opened, resolve }).send(webhook(url))).error, null);
  assert.deepEqual(names, ["hooks.example"]);
  assert.equal(receiver.received[0]?.request.headers.host, `hooks.example:${receiver.port}`);
  const { error } = await openSender(t, { opened, resolve: resolver(found(METADATA)).resolve }).send(webhook(url));
  assert.equal(error, `the name resolves to ${METADATA}, which is not allowed`);
});

test("of several addresses, only those that are allowed are connected to", async (t) => {
  const receiver = await recordingReceiver(t);
  const secure = await httpsReceiver(t, (_, response) => response.end());
  for (const addresses of [
    [METADATA, "127.0.0.1"],
    ["127.0.0.1", METADATA],
    ["fd00:ec2::254", METADATA, "::ffff:127.0.0.1", "127.0.0.1"],
  ]) {
    const { resolve } = resolver(found(...addresses));
    const named = await openSender(t, { opened: "hooks.example", resolve }).send(
      webhook(`http://hooks.example:${receiver.port}/`),
    );
    assert.equal(named.error, null);
    // 127.0.0.1 is opened, and its certificate is not trusted: that it is seen shows the connection.
    const before = secure.connections();
    const result = await openSender(t, { resolve, timeoutMs: 3000 }).send(webhook(`https://hooks.example:${secure.port}/`));
    assert.equal(result.error, "the certificate is not trusted");
    assert.equal(secure.connections(), before + 1);
  }
  // Nobody is at the address that is allowed, and the others are not tried instead.
  const { resolve } = resolver(found("127.0.0.1", "192.0.2.1"), found("192.0.2.1", "127.0.0.1"));
  const sender = openSender(t, { opened: "192.0.2.1", resolve, timeoutMs: 1000 });
  const before = secure.connections();
  for (let i = 0; i < 2; i++) assert.notEqual((await sender.send(webhook(`https://hooks.example:${secure.port}/`))).error, null);
  assert.equal(secure.connections(), before);
});

test("a name that changes its address is checked at every connection, by the lookup that connects", async (t) => {
  const receiver = await httpReceiver(t, (_, response) => response.setHeader("connection", "close").end());
  const { names, resolve } = resolver(found("127.0.0.1"), found(METADATA), found("127.0.0.1"), found("10.0.0.5", METADATA));
  const sender = openSender(t, { opened: "hooks.example", resolve });
  const send = async () => {
    const { error } = await sender.send(webhook(`http://hooks.example:${receiver.port}/`));
    await until("the connection is closed", () => receiver.sockets.size === 0);
    return error;
  };
  assert.equal(await send(), null);
  assert.equal(await send(), `the name resolves to ${METADATA}, which is not allowed`);
  assert.equal(await send(), null);
  assert.equal(names.length, 3, "one lookup for a connection, and no other");
});

test("a kept connection stays with the address that was checked", async (t) => {
  const receiver = await recordingReceiver(t);
  const { names, resolve } = resolver(found("127.0.0.1"), found(METADATA));
  const sender = openSender(t, { opened: "hooks.example,other.example", resolve });
  const send = (host: string) => sender.send(webhook(`http://${host}:${receiver.port}/`));
  for (let i = 0; i < 3; i++) {
    assert.equal((await send("hooks.example")).error, null);
    // A connection is free again only after the response that has ended is handled.
    await pause(10);
  }
  assert.equal(receiver.connections(), 1);
  // Another name does not get that connection, even if it belongs to the same channel.
  assert.equal((await send("other.example")).error, `the name resolves to ${METADATA}, which is not allowed`);
  assert.deepEqual(names, ["hooks.example", "other.example"]);
});

test("an address in the URL is checked at every attempt, by what is allowed now", async (t) => {
  const receiver = await httpsReceiver(t, (_, response) => response.end());
  const sender = openSender(t, { opened: "" });
  for (const host of [
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "[::ffff:127.0.0.1]",
    "localhost",
    "localhost.",
    "a.localhost",
  ]) {
    const { status, error } = await sender.send(webhook(`https://${host}:${receiver.port}/SECRET`));
    assert.equal(status, null);
    assert.match(error ?? "", /^the URL must /, host);
    assert.doesNotMatch(error ?? "", /SECRET/);
  }
  assert.equal(receiver.connections(), 0);
});

test("a name that cannot be resolved is a plain error, without the message of the resolver", async (t) => {
  for (const [resolve, error] of [
    [() => Promise.reject(codeError("ENOTFOUND")), "host name not found"],
    [() => Promise.reject(codeError("EAI_AGAIN")), "the host name cannot be resolved at the moment"],
    [() => Promise.reject(codeError("EODD")), "connection failed (EODD)"],
    [() => Promise.reject(new Error("SECRET")), "connection failed (unknown error)"],
    [async () => [], "the name has no address"],
  ] as const) {
    const result = await openSender(t, { resolve }).send(webhook("https://hooks.example/SECRET"));
    assert.deepEqual(result, { status: null, error });
  }
  const { error } = await openSender(t).send(webhook("https://does-not-exist.invalid/SECRET"));
  assert.match(error ?? "", /^(host name not found|the host name cannot be resolved at the moment)$/);
});

test("a name that is never resolved takes no longer than the time, and is looked up once at a time", async (t) => {
  let lookups = 0;
  const resolve = (): Promise<LookupAddress[]> => {
    lookups += 1;
    return new Promise(() => undefined);
  };
  const sender = openSender(t, { resolve, timeoutMs: 300 });
  const results = await Promise.all(Array.from({ length: 20 }, () => sender.send(webhook("https://hooks.example/"))));
  for (const { error } of results) assert.equal(error, "no response within 0.3 seconds");
  assert.equal(lookups, 1);
});

test("proxies of the environment are not used", async (t) => {
  const [receiver, proxy] = [await recordingReceiver(t), await recordingReceiver(t)];
  const names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
  for (const name of names) process.env[name] = name.startsWith("NODE") ? "1" : `http://127.0.0.1:${proxy.port}`;
  t.after(() => {
    for (const name of names) delete process.env[name];
  });
  assert.equal((await openSender(t).send(webhook(receiver.url))).error, null);
  assert.equal(receiver.received.length, 1);
  assert.equal(proxy.connections(), 0);
});

test("a few names are resolved at a time, so that slow ones leave the others to the rest of the service", async (t) => {
  const names: string[] = [];
  const answered = Promise.withResolvers<LookupAddress[]>();
  const resolve = (name: string): Promise<LookupAddress[]> => {
    names.push(name);
    return answered.promise;
  };
  const sender = openSender(t, { opened: "", resolve });
  const sent = Array.from({ length: 10 }, (_, i) => sender.send(webhook(`https://slow${i}.example/`)));
  await until("names are being resolved", () => names.length >= 6);
  await pause(50);
  assert.equal(names.length, 6);
  answered.resolve(found(METADATA));
  await Promise.all(sent);
  assert.equal(names.length, 10);
});
