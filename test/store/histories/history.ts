// One history: a new database, lived through by random commands from a seed, beside the naive model. Whatever a crash
// leaves, all is sent again afterwards, so that the same seed leads to the same commands every time.

import assert from "node:assert/strict";
import type { Store } from "../../../src/domain/store.ts";
import { type Random, seeded } from "../../../src/simulate/random.ts";
import type { Lifetime } from "../../support/service.ts";
import type { Engine, Opened } from "../conformance/engine.ts";
import { NaiveStore } from "../conformance/model.ts";
import { checked, customer, NEW_YEAR, tank } from "../conformance/objects.ts";
import { crash, writeAtOnce } from "./at-once.ts";
import { compareAnyPage, compareEveryPage, compareExport, compareObjects, customersOf, tanksOf, telemetryOf } from "./compare.ts";
import { type Shape, shapeOf } from "./shapes.ts";
import { EMAILS, newCustomers, newTanks, OWNERS, someCustomers, someTanks } from "./some-objects.ts";
import { imported, someReadings, TELLING, WITNESS, weighted } from "./some-readings.ts";
import { note, send, type Write } from "./write.ts";

const COMMANDS = [
  [45, "readings"],
  [16, "customers"],
  [16, "tanks"],
  [8, "many handed over at once"],
  [3, "touch"],
  [2, "reopen"],
  [1, "two stores write at once"],
  [0.5, "two processes write at once"],
  [1, "crash"],
] as const;

const SERIES = [
  ...[undefined, ...EMAILS, "nobody@customers.example"].map(customersOf),
  ...[undefined, ...OWNERS].map(tanksOf),
  ...[...TELLING, WITNESS, "nobody"].map(telemetryOf),
];

class History {
  readonly #life: Lifetime;
  readonly #random: Random;
  readonly #shape: Shape;
  readonly #opened: Opened;
  readonly #model = new NaiveStore();
  #stores: Store[];
  #serial = 0;

  constructor(life: Lifetime, random: Random, shape: Shape, opened: Opened) {
    this.#life = life;
    this.#random = random;
    this.#shape = shape;
    this.#opened = opened;
    this.#stores = [opened.store];
  }

  async begin(): Promise<void> {
    const [random, model, { readings, customers, tanks }] = [this.#random, this.#model, this.#shape];
    await this.#write({ kind: "customers", records: OWNERS.map((id) => ({ customer: customer(id), deleted: false })) });
    const telling = [WITNESS, ...TELLING].map((id) => ({ tank: tank(id, OWNERS[0] as string), deleted: false }));
    await this.#write({ kind: "tanks", records: telling });
    await this.#write(newCustomers(random, model, customers));
    await this.#write(newTanks(random, model, tanks));
    await this.#write({ kind: "readings", readings: [["big", NEW_YEAR, 50], ...imported(random, model, ["big"], readings)] });
  }

  async live(name: (typeof COMMANDS)[number][1]): Promise<void> {
    const [random, model] = [this.#random, this.#model];
    switch (name) {
      case "many handed over at once": {
        const writes = this.#someWrites(random.whole(2, 12));
        const told = await Promise.all(writes.map((write) => send(this.#stores[0] as Store, write)));
        assert.deepEqual(
          told,
          writes.map((write) => note(model, write)),
        );
        return;
      }
      case "touch": {
        const [{ id }, at] = [random.pick(model.everyCustomer()).customer, random.whole(0, NEW_YEAR)];
        await this.#any().updateLastSeen(new Map([[id, at]]));
        return model.touch(id, at);
      }
      case "reopen":
        await this.#close();
        this.#stores = [await this.#opened.reopen()];
        if (random.chance(0.5)) this.#stores.push(await this.#opened.reopen());
        return;
      case "two stores write at once":
        if (this.#stores.length < 2) this.#stores.push(await this.#opened.reopen());
        return writeAtOnce(this.#life, random, [this.#stores[0] as Store, this.#stores[1] as Store], model);
      case "two processes write at once":
        return writeAtOnce(this.#life, random, [this.#any(), this.#opened], model);
      case "crash":
        return this.#crash();
      default:
        return this.#write(this.#some(name));
    }
  }

  async #crash(): Promise<void> {
    const plain = this.#someWrites(this.#random.whole(3, 15));
    // With nobody else there, whoever opens the database next has to mend it.
    const isAlone = this.#random.chance(0.5);
    if (isAlone) await this.#close();
    const again = async (): Promise<Store> => {
      if (isAlone) this.#stores = [await this.#opened.reopen()];
      return this.#any();
    };
    const writes = await crash(this.#life, this.#random, this.#opened, plain, again, this.#model, this.#serial);
    this.#serial += writes.length;
    await this.compareAll();
    for (const write of writes) await this.#write(write);
  }

  #some(kind: Write["kind"]): Write {
    const { bulk, customers, tanks } = this.#shape;
    if (kind === "readings") return someReadings(this.#random, this.#model, bulk);
    if (kind === "customers") return someCustomers(this.#random, this.#model, { bulk, most: customers * 1.5 });
    return someTanks(this.#random, this.#model, { bulk, most: tanks * 1.5 });
  }

  #someWrites(count: number): Write[] {
    const kinds = ["readings", "readings", "customers", "tanks"] as const;
    return Array.from({ length: count }, () => this.#some(this.#random.pick(kinds)));
  }

  async #write(write: Write): Promise<void> {
    assert.deepEqual(await send(this.#any(), write), note(this.#model, write));
  }

  #any(): Store {
    return this.#random.pick(this.#stores);
  }

  async #close(): Promise<void> {
    for (const store of this.#stores) await store.close();
  }

  async compareSome(): Promise<void> {
    for (let i = 0; i < 3; i++) await compareAnyPage(this.#random, this.#random.pick(SERIES), this.#any(), this.#model);
    await compareObjects(this.#random, this.#any(), this.#model);
  }

  async compareAll(): Promise<void> {
    for (const series of SERIES) await compareEveryPage(series, this.#any(), this.#model);
  }

  async end(): Promise<void> {
    await this.compareAll();
    await compareExport(this.#any(), this.#model);
    assert.deepEqual((await checked(this.#any())).findings, []);
  }
}

/** The seed names the shape and leads to the same commands every time; a failure tells it, and how to run it again. */
export async function liveThrough(
  engine: Engine,
  life: Lifetime,
  seed: string,
  progress: (commands: number) => void = () => {},
): Promise<void> {
  const [random, shape] = [seeded(seed), shapeOf(seed)];
  const history = new History(life, random, shape, await engine.open(life));
  let doing = "the beginning";
  try {
    await history.begin();
    for (let i = 1; i <= shape.commands; i++) {
      const command = weighted(random, COMMANDS);
      doing = `command ${i} (${command})`;
      await history.live(command);
      if (i % 3 === 0) await history.compareSome();
      if (i % 200 === 0) await history.compareAll();
      progress(i);
    }
    doing = "the end";
    await history.end();
  } catch (cause) {
    const again = `Run it again: TEST_SEED=${seed} npm run test:long`;
    throw new Error(`${engine.name}, ${doing}: ${(cause as Error).message}\n${again}`, { cause });
  }
}
