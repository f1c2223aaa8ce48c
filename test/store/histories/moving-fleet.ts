// A small fleet whose devices are moved about, whose tanks come and go, by random orders from a seed; and what must have
// become of every reading of its devices.

import assert from "node:assert/strict";
import { marginOf } from "../../../src/domain/management-reads.ts";
import type { Store } from "../../../src/domain/store.ts";
import type { Random } from "../../../src/simulate/random.ts";
import type { Sent } from "../../support/arrivals.ts";
import { at, carriedOut, order, tankFields } from "../../support/orders.ts";
import { checked, customer, everything, putCustomers, WHOLE_FLEET, waitingOf } from "../conformance/objects.ts";
import { DeviceLocations } from "./device-locations.ts";
import { shuffled } from "./some-readings.ts";

const OWNER = "owner";
/** The devices that send. Others only take their place. */
export const DEVICES = ["d0", "d1", "A84041C2F1827D3E", "d3", "d4", "d5"].map((id) => ({
  id,
  key: id.length === 16 ? id.toLowerCase() : id,
}));
const TANKS = 5;

type Tank = { device: string; deleted: boolean };

export class MovingFleet {
  readonly #random: Random;
  readonly #where = new DeviceLocations();
  readonly #tanks = new Map<string, Tank>();
  #spares = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Some of the devices have a tank, the others wait for one. */
  async begin(store: Store, now: number): Promise<void> {
    await putCustomers(store, customer(OWNER));
    for (const { id } of DEVICES.slice(0, TANKS - 1)) await this.#make(store, id, now);
    await this.#make(store, this.#spare(), now);
  }

  /** Something is done to one or two tanks. */
  async move(store: Store, now: number): Promise<void> {
    const [live, gone] = [this.#those(false), this.#those(true)];
    const tank = this.#random.pick(live);
    const free = DEVICES.filter(({ key }) => this.#where.tankNow(key) === null).map(({ id }) => id);
    const kind = this.#random.pick(["swap", "swap", "free", "take", "take", "delete", "restore", "restore", "make"]);
    if (kind === "swap") {
      const other = this.#random.pick(live.filter((id) => id !== tank));
      await this.#swap(store, tank, other, now);
    } else if (kind === "free") await this.#give(store, tank, this.#spare(), now);
    else if (kind === "take" && free.length > 0) await this.#give(store, tank, this.#random.pick(free), now);
    else if (kind === "delete" && live.length > 3) await this.#delete(store, tank, now);
    else if (kind === "restore" && gone.length > 0) await this.#restore(store, this.#random.pick(gone), now);
    else if (kind === "make" && free.length > 0 && this.#tanks.size < 9) await this.#make(store, this.#random.pick(free), now);
  }

  #those(deleted: boolean): string[] {
    return [...this.#tanks].filter(([, tank]) => tank.deleted === deleted).map(([id]) => id);
  }

  #spare(): string {
    return `spare ${this.#spares++}`;
  }

  #deviceOf(tank: string): string {
    return this.#tanks.get(tank)?.device ?? "";
  }

  #tell(device: string, tank: string | null, now: number): void {
    this.#where.tell(keyOf(device), tank, now);
  }

  async #make(store: Store, device: string, now: number): Promise<void> {
    const id = `t${this.#tanks.size}`;
    await carriedOut(store, order.createTank(id, tankFields(OWNER, device)), at(now));
    this.#tanks.set(id, { device, deleted: false });
    this.#tell(device, id, now);
  }

  /** The device is free. */
  async #give(store: Store, tank: string, device: string, now: number): Promise<void> {
    const isByDevice = this.#random.chance(0.5);
    const change = isByDevice
      ? order.putDevice(device, { tank_id: tank })
      : order.changeTank(tank, { assigned_device_id: device });
    await carriedOut(store, change, at(now));
    this.#tell(this.#deviceOf(tank), null, now);
    this.#tell(device, tank, now);
    this.#tanks.set(tank, { device, deleted: false });
  }

  async #swap(store: Store, tank: string, other: string, now: number): Promise<void> {
    const [mine, theirs] = [this.#deviceOf(tank), this.#deviceOf(other)];
    await carriedOut(store, order.changeTank(tank, { assigned_device_id: theirs }, { swap: true }), at(now));
    this.#tell(mine, other, now);
    this.#tell(theirs, tank, now);
    this.#tanks.set(tank, { device: theirs, deleted: false });
    this.#tanks.set(other, { device: mine, deleted: false });
  }

  async #delete(store: Store, tank: string, now: number): Promise<void> {
    await carriedOut(store, order.deleteTank(tank), at(now));
    this.#tell(this.#deviceOf(tank), null, now);
    this.#tanks.set(tank, { device: this.#deviceOf(tank), deleted: true });
  }

  async #restore(store: Store, tank: string, now: number): Promise<void> {
    const old = this.#deviceOf(tank);
    const device = this.#where.tankNow(keyOf(old)) === null ? old : this.#spare();
    await carriedOut(store, order.restoreTank(tank, { assigned_device_id: device }), at(now));
    this.#tell(device, tank, now);
    this.#tanks.set(tank, { device, deleted: false });
  }

  /** Every tank has the readings that were measured in it, what has no tank waits, and the fleet is in its order. */
  async expect(store: Store, sent: readonly Sent[]): Promise<void> {
    const tanks = new Map<string, Map<number, number>>([...this.#tanks.keys()].map((id) => [id, new Map()]));
    const waiting = new Map<string, Set<number>>(DEVICES.map(({ key }) => [key, new Set()]));
    for (const one of sent) {
      assert.ok("device" in one && "fill" in one);
      const tank = this.#where.tankThen(one.device, one.at);
      if (tank === null) waiting.get(one.device)?.add(one.at);
      else tanks.get(tank)?.set(one.at, one.fill);
    }
    const found = new Map([...this.#tanks.keys()].map((id) => [id, new Map<number, number>()]));
    for (const record of await everything(store)) {
      if (record.kind !== "readings") continue;
      found.set(record.tankId, new Map(record.readings.map((one) => [one.created_at, one.fill_percentage])));
    }
    for (const [id, readings] of tanks) {
      assert.deepEqual(
        [...(found.get(id) ?? [])],
        [...readings].toSorted(([a], [b]) => a - b),
        `readings of ${id}`,
      );
    }
    for (const [device, instants] of waiting) {
      assert.deepEqual((await waitingOf(store, device)) ?? [0, 0], [instants.size, 0], `what waits of ${device}`);
    }
    await this.#expectFleet(store, tanks);
    assert.deepEqual((await checked(store)).findings, []);
  }

  async #expectFleet(store: Store, tanks: ReadonlyMap<string, ReadonlyMap<number, number>>): Promise<void> {
    const fleet = (await store.fleetPage(WHOLE_FLEET)).data.map((entry) => [entry.tank.id, marginOf(entry)]);
    const expected = this.#those(false).map((id): [string, number | null] => {
      const [, fill] = [...(tanks.get(id) ?? [])].toSorted(([a], [b]) => b - a)[0] ?? [];
      return [id, fill === undefined ? null : fill - 20];
    });
    expected.sort(([a, one], [b, other]) => (one ?? 1000) - (other ?? 1000) || (a < b ? -1 : 1));
    assert.deepEqual(fleet, expected);
  }
}

const keyOf = (device: string): string => DEVICES.find(({ id }) => id === device)?.key ?? device;

/** Readings of every device between two instants; no two devices measure at the same one. */
export function measuredBetween(random: Random, from: number, to: number, each: number): Sent[] {
  return DEVICES.flatMap(({ key }, i) =>
    Array.from({ length: each }, () => {
      const instant = from + Math.floor(random.between(0, to - from) / DEVICES.length) * DEVICES.length + i;
      return { device: key, at: instant, fill: (instant * 7919) % 101 };
    }),
  );
}

/** What several senders deliver of it: each a part of its own, all of them some of it, in portions, in no order. */
export function sharesOf(random: Random, sent: readonly Sent[], senders: number): Sent[][][] {
  return Array.from({ length: senders }, (_, sender) => {
    const own = sent.filter((_, i) => i % senders === sender || random.chance(0.4));
    const twice = [...own, ...own.filter(() => random.chance(0.3))];
    const portions: Sent[][] = [];
    for (let rest = shuffled(random, twice); rest.length > 0; ) portions.push(rest.splice(0, random.whole(1, 60)));
    return portions;
  });
}
