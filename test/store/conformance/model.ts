// A store in memory, written to be obviously right: everything is counted and sorted anew for each question.

import type { CountedCustomer, Customer } from "../../../src/domain/customer.ts";
import type { Instant } from "../../../src/domain/instant.ts";
import type { Sight } from "../../../src/domain/key.ts";
import type { Page, PageQuestion } from "../../../src/domain/page.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import type { CustomerRecord, TankRecord } from "../../../src/domain/record.ts";
import type { CustomerQuestion, Found } from "../../../src/domain/store.ts";
import type { Tank } from "../../../src/domain/tank.ts";

type Outcome = "new" | "changed" | "unchanged" | "rejected";
type ReadingOutcome = "new" | "changed" | "unchanged" | "tank_unknown";

export class NaiveStore {
  readonly #customers = new Map<string, { customer: Customer; deleted: boolean }>();
  readonly #tanks = new Map<string, { tank: Tank; deleted: boolean }>();
  readonly #readings = new Map<string, Map<Instant, number>>();

  putCustomer(record: CustomerRecord): Outcome {
    const id = "remove" in record ? record.remove : record.customer.id;
    const known = this.#customers.get(id);
    if ("remove" in record && known === undefined) return "rejected";
    const next = "remove" in record ? { customer: known?.customer ?? never(), deleted: true } : record;
    const seen = [next.customer.last_seen_at, known?.customer.last_seen_at ?? null].filter((at) => at !== null);
    const last_seen_at = seen.length === 0 ? null : Math.max(...seen);
    return this.#keep(this.#customers, id, { customer: { ...next.customer, last_seen_at }, deleted: next.deleted });
  }

  putTank(record: TankRecord): Outcome {
    const id = "remove" in record ? record.remove : record.tank.id;
    const known = this.#tanks.get(id);
    if ("remove" in record) {
      return known === undefined ? "rejected" : this.#keep(this.#tanks, id, { tank: known.tank, deleted: true });
    }
    const { tank, deleted } = record;
    if (!this.#customers.has(tank.owner_id)) return "rejected";
    const others = [...this.#tanks.values()].filter((other) => !other.deleted && other.tank.id !== id);
    if (!deleted && others.some((other) => other.tank.assigned_device_id === tank.assigned_device_id)) return "rejected";
    return this.#keep(this.#tanks, id, { tank, deleted });
  }

  putReading(tankId: string, at: Instant, fill: number): ReadingOutcome {
    if (!this.#tanks.has(tankId)) return "tank_unknown";
    const series = this.#readings.get(tankId) ?? new Map<Instant, number>();
    this.#readings.set(tankId, series);
    const known = series.get(at);
    series.set(at, fill);
    return known === undefined ? "new" : known === fill ? "unchanged" : "changed";
  }

  touch(id: string, at: Instant): void {
    const known = this.#customers.get(id);
    if (known === undefined) return;
    const last_seen_at = Math.max(known.customer.last_seen_at ?? at, at);
    this.#customers.set(id, { ...known, customer: { ...known.customer, last_seen_at } });
  }

  customerById(id: string, { customerId }: Sight): Found<CountedCustomer> {
    const known = this.#customers.get(id);
    if (known === undefined || (customerId !== null && customerId !== id)) return undefined;
    return known.deleted ? "deleted" : this.#counted(known.customer);
  }

  customerPage(question: CustomerQuestion, { customerId }: Sight): Page<CountedCustomer> {
    const live = [...this.#customers.values()].flatMap(({ customer, deleted }) => (deleted ? [] : [this.#counted(customer)]));
    const inSight = live.filter(({ id }) => customerId === null || customerId === id);
    return pageOf(
      inSight.filter(({ email }) => question.email === undefined || question.email === email),
      question,
    );
  }

  tankById(id: string, { customerId }: Sight): Found<Tank> {
    const known = this.#tanks.get(id);
    if (known === undefined || (customerId !== null && customerId !== known.tank.owner_id)) return undefined;
    return known.deleted ? "deleted" : known.tank;
  }

  tankPage(question: PageQuestion, { customerId }: Sight): Page<Tank> {
    return pageOf(
      this.#liveTanks().filter((tank) => customerId === null || customerId === tank.owner_id),
      question,
    );
  }

  telemetryPage(tankId: string, question: PageQuestion, sight: Sight): Found<Page<Reading>> {
    const tank = this.tankById(tankId, sight);
    if (typeof tank !== "object") return tank;
    const series = [...(this.#readings.get(tankId) ?? [])];
    const page = pageOf(
      series.map(([created_at, fill_percentage]) => ({ id: "", created_at, fill_percentage })),
      question,
    );
    return { ...page, data: page.data.map(({ id: _, ...reading }) => reading) };
  }

  #keep<T>(objects: Map<string, T>, id: string, next: T): Outcome {
    const known = objects.get(id);
    objects.set(id, next);
    if (known === undefined) return "new";
    return JSON.stringify(known) === JSON.stringify(next) ? "unchanged" : "changed";
  }

  #liveTanks(): Tank[] {
    return [...this.#tanks.values()].flatMap(({ tank, deleted }) => (deleted ? [] : [tank]));
  }

  #counted(customer: Customer): CountedCustomer {
    return { ...customer, tank_count: this.#liveTanks().filter(({ owner_id }) => owner_id === customer.id).length };
  }
}

type Listed = { readonly id: string; readonly created_at: Instant };

function pageOf<T extends Listed>(objects: readonly T[], { from, to, page, size }: PageQuestion): Page<T> {
  const within = objects.filter(({ created_at: at }) => (from === undefined || at >= from) && (to === undefined || at <= to));
  const sorted = within.toSorted((a, b) => b.created_at - a.created_at || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id)));
  return { data: sorted.slice((page - 1) * size, page * size), totalItems: within.length };
}

function never(): never {
  throw new Error("unreachable");
}
