// Everything in the database, of one snapshot, in the order an import needs. It has a connection of its own: the snapshot
// stays open for as long as the reader takes.

import type { DatabaseSync } from "node:sqlite";
import type { ExportRecord } from "../../domain/store.ts";
import {
  customerState,
  DEVICE_COLUMNS,
  forgottenDevice,
  keptDevice,
  shapedTank,
  WAITING_COLUMNS,
  waitingOf,
} from "../columns.ts";
import { Block } from "../series/block.ts";
import { asRefusal, openReader } from "./connection.ts";
import { ALL_CUSTOMERS } from "./customers.ts";
import { arrayStatement, type Row } from "./rows.ts";
import { ALL_TANKS } from "./tanks.ts";

/** By block_by_start, so that the readings of a tank come oldest first. */
const BLOCKS = "SELECT data FROM block WHERE tank = ? ORDER BY start";
const HEADS = "SELECT t.pk, t.id, h.data FROM tank t JOIN telemetry h ON h.tank = t.pk ORDER BY t.pk";

const SERVICES = "json_group_array(json_array(until, tank) ORDER BY until)";
/** By primary keys. */
const DEVICES = `SELECT ${DEVICE_COLUMNS}, (SELECT ${SERVICES} FROM service WHERE service.device = device.id) FROM device ORDER BY id`;
const FORGOTTEN = `
  SELECT device, ${SERVICES} FROM service WHERE device NOT IN (SELECT id FROM device) GROUP BY device ORDER BY device`;
const WAITING = `SELECT ${WAITING_COLUMNS} FROM waiting ORDER BY device, created_at`;

export async function* records(file: string): AsyncGenerator<ExportRecord> {
  let db: DatabaseSync | undefined;
  try {
    db = openReader(file);
    db.exec("BEGIN");
    for (const row of iterate(arrayStatement(db, ALL_CUSTOMERS).iterate())) {
      yield { kind: "customer", ...customerState(row) };
    }
    for (const row of iterate(arrayStatement(db, ALL_TANKS).iterate())) {
      yield { kind: "tank", ...shapedTank(row) };
    }
    for (const row of iterate(arrayStatement(db, DEVICES).iterate())) yield { kind: "device", ...keptDevice(row) };
    for (const row of iterate(arrayStatement(db, FORGOTTEN).iterate())) yield { kind: "device", ...forgottenDevice(row) };
    const blocks = arrayStatement(db, BLOCKS);
    for (const row of iterate(arrayStatement(db, HEADS).iterate())) {
      const [tank, tankId, head] = row as readonly [number, string, Uint8Array];
      for (const [data] of iterate(blocks.iterate(tank))) yield readingsOf(tankId, data as Uint8Array);
      if (head.length > 0) yield readingsOf(tankId, head);
    }
    for (const row of iterate(arrayStatement(db, WAITING).iterate())) yield { kind: "waiting", waiting: waitingOf(row) };
  } catch (error) {
    throw asRefusal(error);
  } finally {
    db?.close();
  }
}

function readingsOf(tankId: string, data: Uint8Array): ExportRecord {
  const block = new Block(data);
  const readings = Array.from({ length: block.length }, (_, i) => ({
    created_at: block.instant(i),
    fill_percentage: block.fill(i),
  }));
  return { kind: "readings", tankId, readings };
}

function iterate(rows: unknown): Iterable<Row> {
  return rows as Iterable<Row>;
}
