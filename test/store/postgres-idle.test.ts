// Connections that nothing was sent on for a while: firewalls forget them without a word.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { statement } from "../../src/store/postgres/connection.ts";
import { ReadConnections } from "../../src/store/postgres/read-connections.ts";
import { openedOn, postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import { until } from "../support/until.ts";

const PID = statement("SELECT pg_backend_pid()");

test("read connections that are idle are closed, and opened again when they are needed", async (t) => {
  const { url, query, closeFirst } = await postgresDatabase(t);
  const reads = new ReadConnections(url, 2, { schema: "public" }, 1000);
  closeFirst(() => reads.close());
  const pids = async () => (await Promise.all([reads.rows(PID), reads.rows(PID)])).map(([row]) => Number(row?.[0]));
  const before = await pids();
  const isOpen = async () => {
    // Without another read at the same time, the first connection is used.
    await reads.rows(PID);
    const open = await query<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE pid = ANY($1)", [before]);
    return before.map((process) => open.some(({ pid }) => pid === process));
  };
  assert.deepEqual(await isOpen(), [true, true]);
  await until("the idle one is closed", async () => (await isOpen())[1] === false);
  assert.deepEqual(await isOpen(), [true, false], "the one in use stays open");
  assert.equal(new Set(await pids()).size, 2);
});

test("connections send keep-alive probes after 30 s", { skip: process.platform !== "linux" }, async (t) => {
  const { url, closeFirst } = await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true });
  const { store } = await openedOn({ after: closeFirst }, url);
  await Promise.all([store.ping(), store.tanksDue(0)]);
  /** Fields of /proc/net/tcp: the remote port, and the running timer with its remaining time in hundredths of a second. */
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0");
  const connections = readFileSync("/proc/self/net/tcp", "utf8").matchAll(new RegExp(`:${port} 01 \\S+ 02:(\\w+)`, "g"));
  const seconds = Array.from(connections, ([, ticks = ""]) => Number.parseInt(ticks, 16) / 100);
  const soon = seconds.filter((remaining) => remaining <= 30);
  assert.ok(soon.length >= 2, `keep-alive timers: ${seconds.join(" s, ")} s`);
});
