// A database as the first version of the program left it: a row a reading, a count a tank, no milestones.

import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Reading } from "../../src/domain/reading.ts";
import type { Tank } from "../../src/domain/tank.ts";
import { FIRST } from "../../src/store/sqlite/schema.ts";
import type { NaiveStore } from "./conformance/model.ts";
import { customer, NEW_YEAR, tank } from "./conformance/objects.ts";
import { note, type SentReading } from "./histories/write.ts";

export const MANY = "many@customers.example";
export const OWNER = "owner";
const [EARLIEST, LATEST] = [Date.parse("0000-01-01T00:00:00.000Z"), Date.parse("9999-12-31T23:59:59.999Z")];

/** The tanks with readings; the last is deleted. */
export const TELLING = ["long", "middling", "block", "short", "ends of time", "gone"];

/** `readings` of the longest tank; 0: there is none of any. Lists and telemetry of every length that matters: below and above what has milestones, and with two levels above. */
export function fillFleet(model: NaiveStore, readings: number): void {
  const customers = Array.from({ length: 4300 }, (_, i) =>
    customer(`c${i}`, { email: i % 3 === 0 ? `${i}@customers.example` : MANY, created_at: NEW_YEAR + (i % 40) }),
  );
  const tanks = Array.from({ length: 700 }, (_, i) =>
    tank(`t${i}`, i % 2 === 0 ? OWNER : "c1", { created_at: NEW_YEAR - (i % 5) }),
  );
  note(model, {
    kind: "customers",
    records: [customer(OWNER), ...customers].map((one, i) => ({ customer: one, deleted: i % 50 === 9 })),
  });
  note(model, { kind: "tanks", records: tanks.map((one, i) => ({ tank: one, deleted: i % 30 === 9 })) });
  note(model, { kind: "tanks", records: TELLING.map((id) => ({ tank: tank(id, OWNER), deleted: id === "gone" })) });
  if (readings === 0) return;
  const series = (id: string, count: number, step: number): SentReading[] =>
    Array.from({ length: count }, (_, i) => [id, NEW_YEAR + i * step, ((i * 37) % 10_001) / 100]);
  const ends: SentReading[] = [EARLIEST, EARLIEST + 1, -1, 0, 1, LATEST - 1, LATEST].map((at, i) => ["ends of time", at, i / 3]);
  const sizes: [string, number, number][] = [
    ["long", readings, 900_000],
    ["middling", 300, 1],
    ["block", 161, 86_400_000],
    ["short", 3, 1],
    ["gone", 500, 60_000],
  ];
  note(model, { kind: "readings", readings: [...sizes.flatMap((size) => series(...size)), ...ends] });
}

/** Writes rows as the first version did. */
export class FirstVersion {
  readonly db: DatabaseSync;

  constructor(file: string, model: NaiveStore) {
    this.db = new DatabaseSync(file);
    this.db.exec("PRAGMA journal_mode = wal; BEGIN");
    this.db.exec(FIRST);
    this.db.exec(`PRAGMA application_id = ${0x544e4b4d}; PRAGMA user_version = 1`);
    for (const { customer: one, deleted } of model.everyCustomer())
      this.#insert("customer", { ...one, deleted: deleted ? 1 : 0 });
    for (const { tank: one, deleted } of model.everyTank()) {
      this.putTank(one, deleted);
      this.putReadings(one.id, model.readings(one.id));
    }
    this.db.exec("COMMIT");
  }

  putTank({ location, ...fields }: Tank, deleted: boolean): void {
    this.#insert("tank", { ...fields, ...location, deleted: deleted ? 1 : 0 });
    if (!deleted) this.db.prepare("UPDATE customer SET tank_count = tank_count + 1 WHERE id = ?").run(fields.owner_id);
  }

  putReadings(tankId: string, readings: readonly Reading[]): void {
    const { pk } = this.db.prepare("SELECT pk FROM tank WHERE id = ?").get(tankId) as { pk: number };
    const put = this.db.prepare("INSERT INTO reading (tank, created_at, fill) VALUES (?, ?, ?)");
    for (const { created_at, fill_percentage } of readings) put.run(pk, created_at, fill_percentage);
    this.db.prepare("UPDATE tank SET reading_count = reading_count + ? WHERE pk = ?").run(readings.length, pk);
  }

  #insert(table: string, fields: Record<string, SQLInputValue>): void {
    const names = Object.keys(fields);
    const sql = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
    this.db.prepare(sql).run(...Object.values(fields));
  }
}
