// A store in memory, written to be obviously right: sorted arrays, filtered and cut anew for each question, and sorted anew
// after each write.

import type { Customer, CustomerWithCount } from "../../../src/domain/customer.ts";
import type { Instant } from "../../../src/domain/instant.ts";
import type { Scope } from "../../../src/domain/key.ts";
import type { Page, PageQuery } from "../../../src/domain/page.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import type { CustomerRecord, TankRecord } from "../../../src/domain/records.ts";
import type { CustomerQuery, Found } from "../../../src/domain/store.ts";
import type { Tank } from "../../../src/domain/tank.ts";

type Outcome = "new" | "changed" | "unchanged" | "rejected";
type ReadingOutcome = "new" | "changed" | "unchanged" | "tank_unknown";

export class NaiveStore {
  readonly #customers = new Map<string, { customer: Customer; deleted: boolean }>();
  readonly #tanks = new Map<string, { tank: Tank; deleted: boolean }>();
  readonly #readings = new Map<string, Map<Instant, number>>();
  /** What was sorted since the last write, by what it is called. */
  readonly #sorted = { customers: new Map<string, Customer[]>(), tanks: new Map<string, Tank[]>() };
  readonly #sortedReadings = new Map<string, Reading[]>();

  putCustomer(record: CustomerRecord): Outcome {
    const id = "remove" in record ? record.remove : record.customer.id;
    const known = this.#customers.get(id);
    if ("remove" in record && known === undefined) return "rejected";
    const next = "remove" in record ? { customer: known?.customer ?? never(), deleted: true } : record;
    const seen = [next.customer.last_seen_at, known?.customer.last_seen_at ?? null].filter((at) => at !== null);
    const last_seen_at = seen.length === 0 ? null : Math.max(...seen);
    return this.#keep("customers", this.#customers, id, { customer: { ...next.customer, last_seen_at }, deleted: next.deleted });
  }

  putTank(record: TankRecord): Outcome {
    const id = "remove" in record ? record.remove : record.tank.id;
    const known = this.#tanks.get(id);
    if ("remove" in record) {
      return known === undefined ? "rejected" : this.#keep("tanks", this.#tanks, id, { tank: known.tank, deleted: true });
    }
    const { tank, deleted } = record;
    if (!this.#customers.has(tank.owner_id)) return "rejected";
    if (!deleted && this.#isServed(tank.assigned_device_id, id)) return "rejected";
    return this.#keep("tanks", this.#tanks, id, { tank, deleted });
  }

  putReading(tankId: string, at: Instant, fill: number): ReadingOutcome {
    if (!this.#tanks.has(tankId)) return "tank_unknown";
    const series = this.#readings.get(tankId) ?? new Map<Instant, number>();
    this.#readings.set(tankId, series);
    const known = series.get(at);
    series.set(at, fill);
    if (known !== fill) this.#sortedReadings.delete(tankId);
    return known === undefined ? "new" : known === fill ? "unchanged" : "changed";
  }

  touch(id: string, at: Instant): void {
    const known = this.#customers.get(id);
    if (known === undefined) return;
    const last_seen_at = Math.max(known.customer.last_seen_at ?? at, at);
    this.#keep("customers", this.#customers, id, { ...known, customer: { ...known.customer, last_seen_at } });
  }

  customerById(id: string, { customerId }: Scope): Found<CustomerWithCount> {
    const known = this.#customers.get(id);
    if (known === undefined || (customerId !== null && customerId !== id)) return undefined;
    return known.deleted ? "deleted" : this.#counted(known.customer);
  }

  customerPage(question: CustomerQuery, { customerId }: Scope): Page<CustomerWithCount> {
    const inSight = this.customers(question.email).filter(({ id }) => customerId === null || customerId === id);
    const { data, totalItems } = pageOf(inSight, question);
    return { data: data.map((one) => this.#counted(one)), totalItems };
  }

  tankById(id: string, { customerId }: Scope): Found<Tank> {
    const known = this.#tanks.get(id);
    if (known === undefined || (customerId !== null && customerId !== known.tank.owner_id)) return undefined;
    return known.deleted ? "deleted" : known.tank;
  }

  tankPage(question: PageQuery, { customerId }: Scope): Page<Tank> {
    return pageOf(this.tanks(customerId ?? undefined), question);
  }

  telemetryPage(tankId: string, question: PageQuery, sight: Scope): Found<Page<Reading>> {
    const tank = this.tankById(tankId, sight);
    return typeof tank === "object" ? pageOf(this.readings(tankId), question) : tank;
  }

  /** All that are not deleted, newest first. */
  customers(email?: string): readonly Customer[] {
    return kept(this.#sorted.customers, JSON.stringify(email) ?? "all", () => {
      if (email !== undefined) return this.customers().filter((one) => one.email === email);
      return newestFirst([...this.#customers.values()].filter((one) => !one.deleted).map((one) => one.customer));
    });
  }

  tanks(owner?: string): readonly Tank[] {
    return kept(this.#sorted.tanks, JSON.stringify(owner) ?? "all", () => {
      if (owner !== undefined) return this.tanks().filter(({ owner_id }) => owner_id === owner);
      return newestFirst([...this.#tanks.values()].filter((one) => !one.deleted).map((one) => one.tank));
    });
  }

  /** Newest first, whether or not the tank is deleted. */
  readings(tankId: string): readonly Reading[] {
    return kept(this.#sortedReadings, tankId, () =>
      [...(this.#readings.get(tankId) ?? [])]
        .toSorted(([a], [b]) => b - a)
        .map(([created_at, fill_percentage]) => ({ created_at, fill_percentage })),
    );
  }

  /** All there ever were, in the order they were made. */
  everyCustomer(): { readonly customer: Customer; readonly deleted: boolean }[] {
    return [...this.#customers.values()];
  }

  everyTank(): { readonly tank: Tank; readonly deleted: boolean }[] {
    return [...this.#tanks.values()];
  }

  #keep<T>(name: "customers" | "tanks", objects: Map<string, T>, id: string, next: T): Outcome {
    const known = objects.get(id);
    objects.set(id, next);
    this.#sorted[name].clear();
    if (known === undefined) return "new";
    return JSON.stringify(known) === JSON.stringify(next) ? "unchanged" : "changed";
  }

  #isServed(device: string, exceptTank: string): boolean {
    for (const { tank, deleted } of this.#tanks.values()) {
      if (!deleted && tank.id !== exceptTank && tank.assigned_device_id === device) return true;
    }
    return false;
  }

  #counted(customer: Customer): CustomerWithCount {
    return { ...customer, tank_count: this.tanks(customer.id).length };
  }
}

/** The value of that name, made where there is none. */
function kept<T>(values: Map<string, T>, name: string, make: () => T): T {
  const known = values.get(name) ?? make();
  values.set(name, known);
  return known;
}

type Listed = { readonly id: string; readonly created_at: Instant };

/** By instant, then by the bytes of the id, descending. */
function newestFirst<T extends Listed>(objects: readonly T[]): T[] {
  // As latin1 the bytes of an id are letters, which compare as the bytes do.
  const named = objects.map((object) => ({ object, bytes: Buffer.from(object.id).toString("latin1") }));
  named.sort((a, b) => b.object.created_at - a.object.created_at || (a.bytes < b.bytes ? 1 : -1));
  return named.map(({ object }) => object);
}

/** Of entries that are newest first. */
function pageOf<T extends { readonly created_at: Instant }>(entries: readonly T[], question: PageQuery): Page<T> {
  const { from, to, page, size } = question;
  const isWithin = ({ created_at: at }: T): boolean => (from === undefined || at >= from) && (to === undefined || at <= to);
  const within = from === undefined && to === undefined ? entries : entries.filter(isWithin);
  return { data: within.slice((page - 1) * size, page * size), totalItems: within.length };
}

function never(): never {
  throw new Error("unreachable");
}
