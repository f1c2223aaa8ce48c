// The job that keeps forecasts and the fleet order, on both engines.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { constants, getPriority } from "node:os";
import { suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { computeForecast, type ForecastTask } from "../../src/forecast/compute.ts";
import { ForecastThread } from "../../src/forecast/forecast-thread.ts";
import { ForecastJob, HOLDER_TIMEOUT_MS } from "../../src/forecast/job.ts";
import { customer, putCustomers, putTanks, tank } from "../store/conformance/objects.ts";
import { type Engine, type Opened, postgresEngine, sqliteEngine } from "../store/engines.ts";
import { runSql } from "../store/raw-sql.ts";
import { at, command, executed } from "../support/commands.ts";
import { ingest } from "../support/readings.ts";
import { until } from "../support/until.ts";
import { computeAll, DAY, falling, forecastOf, isComputed, NOW, orderOf, outdated } from "./support.ts";

const HOUR = 3_600_000;
const WAIT_MS = 60_000;

type StartJob = (store: Store, now?: number) => ForecastJob;

/** Its jobs are stopped before the stores are closed. */
async function withJobs(work: (startJob: StartJob) => Promise<void>): Promise<void> {
  const [jobs, failures]: [ForecastJob[], unknown[]] = [[], []];
  try {
    await work((store, now = NOW) => {
      const job = new ForecastJob({ store, clock: () => now, observe: (event) => failures.push(event) });
      jobs.push(job);
      return job;
    });
    assert.deepEqual(failures, []);
  } finally {
    for (const job of jobs) await job.stop();
  }
}

const job = (name: string, engine: Engine, run: (opened: Opened, startJob: StartJob) => Promise<void>) =>
  test(name, async (t) => {
    const opened = await engine.open(t);
    await withJobs((startJob) => run(opened, startJob));
  });

function forecastJob(engine: Engine): void {
  job(
    "the fast consumer comes before the dormant tank; low tanks first, those without a forecast later, without a reading last",
    engine,
    async ({ store }, startJob) => {
      await putCustomers(store, customer("a"));
      await putTanks(store, ...["dormant", "fast", "slow", "low", "lower", "new", "never"].map((id) => tank(id, "a")));
      startJob(store).wake();
      await ingest(
        store,
        ...[...falling("fast", 30, 1.5, 40), ...falling("slow", 60, 0.7, 40), ...falling("dormant", 22, 0, 40)],
        ...[...falling("low", 20, 1, 40), ...falling("lower", 10, 1, 40), { tank: "new", at: NOW, fill: 21 }],
      );
      const expected = ["lower", "low", "fast", "slow", "new", "dormant", "never"];
      await until("the order follows", async () => (await orderOf(store)).join() === expected.join(), WAIT_MS);
      const fast = await forecastOf(store, "fast");
      const days = ((fast.runs_low_at.p50 ?? 0) - NOW) / DAY;
      assert.equal(fast.state, "ok");
      assert.ok(days > 4 && days < 10, `${days} days`);
      assert.equal((await forecastOf(store, "new")).state, "insufficient_data");
      assert.equal((await forecastOf(store, "dormant")).state, "no_use");
      assert.equal(await store.tankForecast("never", UNRESTRICTED), null);
      await until("all are computed", () => isComputed(store), WAIT_MS);
    },
  );

  job(
    "a forecast is computed again after a reading, another threshold, and a day; not otherwise",
    engine,
    async ({ store }, startJob) => {
      await putCustomers(store, customer("a"));
      await putTanks(store, tank("one", "a"));
      await ingest(store, ...falling("one", 50, 1, 30));
      const first = startJob(store);
      await until("it is computed", async () => (await store.tankForecast("one", UNRESTRICTED)) !== null, WAIT_MS);
      const before = await forecastOf(store, "one");
      assert.equal(before.computed_at, NOW);
      await executed(store, command.changeTank("one", { min_fill_alert_percentage: 40 }), at(NOW));
      await until(
        "the threshold counts",
        async () => (await forecastOf(store, "one")).runs_low_at.p50 !== before.runs_low_at.p50,
        WAIT_MS,
      );
      await first.stop();
      const later = NOW + 6 * HOUR;
      const second = startJob(store, later);
      await until("another process takes over", async () => (await store.fleetOrderState())?.asOf === later, WAIT_MS);
      assert.equal((await forecastOf(store, "one")).computed_at, NOW, "it is not computed again without a reason");
      await ingest(store, { tank: "one", at: later, fill: 49.5 });
      second.wake();
      await until("the reading counts", async () => (await forecastOf(store, "one")).based_on_until === later, WAIT_MS);
      await second.stop();
      const tomorrow = later + DAY;
      startJob(store, tomorrow);
      await until("a day later", async () => (await forecastOf(store, "one")).computed_at === tomorrow, WAIT_MS);
    },
  );

  job("a forecast is computed again after any change that it depends on, and only then", engine, async ({ store }) => {
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    await ingest(store, ...falling("one", 50, 1, 30));
    await store.updateSortKeys(["one"], NOW);
    const compute = () => computeAll(store, { clock: () => NOW + 1 });
    await compute();
    const before = await forecastOf(store, "one");
    assert.equal(before.use_per_day?.unit, "liters");
    for (const [fields, isOutdated] of [
      [{ name: "Hall 3", location: { city: "Bonn", longitude: 7.1 } }, false],
      [{ capacity_unit: "gallons" }, true],
      [{ capacity: 5400 }, true],
      [{ location: { latitude: 50.7 } }, true],
      [{ use_case: "industrial" }, true],
      [{ min_fill_alert_percentage: 30 }, true],
    ] as const) {
      await executed(store, command.changeTank("one", fields), at(NOW + 1));
      assert.equal(await outdated(store), Number(isOutdated), JSON.stringify(fields));
      await compute();
      assert.ok(await isComputed(store));
    }
    const { use_per_day } = await forecastOf(store, "one");
    assert.equal(use_per_day?.unit, "gallons");
    assert.ok(Math.abs((use_per_day?.volume ?? 0) - 54) < 5, JSON.stringify(use_per_day));
  });

  test("a forecast of a tank that an import has changed meanwhile, keeping its version, is computed again", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    await ingest(store, ...falling("one", 50, 1, 30));
    await store.updateSortKeys(["one"], NOW);
    const version = async () => (await store.managedTank("one"))?.tank.updated_at;
    const before = await version();
    await computeAll(store, {
      clock: () => NOW + 1,
      async compute(task) {
        await putTanks(store, tank("one", "a", { min_fill_alert_percentage: 40 }));
        return computeForecast(task);
      },
    });
    assert.deepEqual([await version(), await outdated(store)], [before, 1]);
  });

  job("a state of the order that cannot be read stops nothing", engine, async (opened, startJob) => {
    const { store, url } = opened;
    const first = startJob(store);
    await until("it begins", () => store.fleetOrderState(), WAIT_MS);
    await first.stop();
    for (const damaged of ["{", "{}"]) {
      await runSql(url, `UPDATE service_state SET value = '${damaged}' WHERE name = 'fleet_order'`);
      assert.equal(await store.fleetOrderState(), undefined);
      const next = startJob(store);
      await until("it begins again", () => store.fleetOrderState(), WAIT_MS);
      await next.stop();
    }
  });

  job("of two processes one keeps the order; when it stops, the other does", engine, async ({ store, reopen }, startJob) => {
    const other = await reopen();
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    const first = startJob(store);
    const { holder } = await until("one begins", () => store.fleetOrderState(), WAIT_MS);
    startJob(other, NOW + 2 * HOLDER_TIMEOUT_MS);
    await ingest(store, { tank: "two", at: NOW, fill: 5 });
    first.wake();
    await until("the order follows", async () => (await orderOf(store))[0] === "two", WAIT_MS);
    await first.stop();
    await until("the other takes over", async () => (await store.fleetOrderState())?.holder !== holder, WAIT_MS);
  });

  job("a process that is started after another has stopped takes over at once", engine, async (opened, startJob) => {
    const { store } = opened;
    const first = startJob(store);
    const { holder } = await until("one begins", () => store.fleetOrderState(), WAIT_MS);
    await first.stop();
    assert.equal((await store.fleetOrderState())?.asOf, NOW, "how old the order is stays known");
    startJob(await opened.reopen(), NOW + 1000);
    await until("the other takes over", async () => (await store.fleetOrderState())?.holder !== holder, WAIT_MS / 4);
  });

  job(
    "a process that is not the holder rarely looks whether it should be, also after a reading",
    engine,
    async (opened, startJob) => {
      const { store } = opened;
      startJob(store);
      await until("one begins", () => store.fleetOrderState(), WAIT_MS);
      const other = await opened.reopen();
      let reads = 0;
      const counted: Store = {
        ...other,
        fleetOrderState: () => {
          reads++;
          return other.fleetOrderState();
        },
      };
      startJob(counted).wake();
      await until("it has looked", () => reads > 0, WAIT_MS);
      await pause(1500);
      assert.ok(reads <= 2, `${reads} reads`);
    },
  );

  job(
    "a tank that runs low within a week, and one that leaks, have alerts; a refill closes the first",
    engine,
    async ({ store }, startJob) => {
      await putCustomers(store, customer("a"));
      await putTanks(store, tank("soon", "a"), tank("leaking", "a"), tank("fine", "a"));
      const leaking = falling("leaking", 60, 0.2, 90).map((reading) => {
        const lost = Math.max(0, (reading.at - (NOW - 7 * DAY)) / DAY) * 2.5;
        return { ...reading, fill: Math.round(100 * (reading.fill - lost)) / 100 };
      });
      await ingest(store, ...falling("soon", 25, 1, 40), ...falling("fine", 60, 0.5, 40), ...leaking);
      const first = startJob(store);
      const open = async () => {
        const alerts = await store.alertsNotClosed(["soon", "leaking", "fine"]);
        return alerts.map(({ tank_id, kind }) => `${tank_id} ${kind}`).sort();
      };
      const expected = ["leaking leak", "soon runs_low_soon"];
      await until("both are open", async () => (await open()).join() === expected.join(), WAIT_MS);
      const [soon] = (await store.alertsNotClosed(["soon"])).filter(({ kind }) => kind === "runs_low_soon");
      const days = ((soon?.runs_low_at ?? 0) - NOW) / DAY;
      assert.ok(days > 3.5 && days < 7, `${days} days`);
      const [leak] = await store.alertsNotClosed(["leaking"]);
      assert.ok(Math.abs((leak?.leak?.excess ?? 0) - 2.5) < 0.5, JSON.stringify(leak?.leak));
      await first.stop();
      const later = NOW + DAY;
      const filled = [6, 12, 18, 24].map((hours) => ({ tank: "soon", at: NOW + hours * HOUR, fill: 90 - hours / 24 }));
      await ingest(store, ...filled);
      startJob(store, later);
      await until("the first is closed", async () => (await open()).join() === "leaking leak", WAIT_MS);
      assert.equal((await store.alertById(soon?.id ?? "", UNRESTRICTED))?.close_reason, "recovered");
    },
  );

  job(
    "a refill is listed and reported once, also if more of it is known later; an old one is not reported",
    engine,
    async ({ store }, startJob) => {
      await putCustomers(store, customer("a"));
      await putTanks(store, tank("one", "a"));
      const filled = [...falling("one", 30, 1, 60)].map((reading) => {
        const refills = Number(reading.at > NOW - 40 * DAY) + Number(reading.at > NOW - 2.7 * DAY);
        return { ...reading, fill: reading.fill + 40 * refills - 40 };
      });
      await ingest(store, ...filled.slice(0, -1));
      const first = startJob(store);
      const refills = async () => {
        const page = await store.refillPage("one", { page: 1, size: 10 }, UNRESTRICTED);
        return typeof page === "object" ? page : assert.fail(page);
      };
      await until("they are found", async () => (await refills()).totalItems === 2, WAIT_MS);
      const [newest, oldest] = (await refills()).data;
      assert.ok((newest?.startedAt ?? 0) > (oldest?.endedAt ?? NOW), "newest first");
      assert.ok(Math.abs((newest?.to ?? 0) - (newest?.from ?? 0) - 40) < 2, JSON.stringify(newest));
      await first.stop();
      await ingest(store, ...filled.slice(-1));
      startJob(store, NOW + HOUR);
      await until("the last reading counts", async () => (await forecastOf(store, "one")).based_on_until === NOW, WAIT_MS);
      const { payloads } = await store.eventFeed({ after: 0, size: 100 }, UNRESTRICTED);
      const reported = payloads.map((payload) => JSON.parse(payload)).filter(({ type }) => type === "tank.refilled");
      assert.deepEqual(
        reported.map(({ data }) => [data.tank.id, data.customer.id, data.refill.started_at, data.refill.unit]),
        [["one", "a", new Date(newest?.startedAt ?? 0).toISOString(), "liters"]],
      );
    },
  );
}

test("the thread goes on after an error", async (t) => {
  const thread = new ForecastThread();
  t.after(() => thread.close());
  const one = tank("one", "a");
  const compute = (parts: ForecastTask["parts"]) => thread.compute({ tank: one, latestAt: NOW, latestFill: 49, parts, now: NOW });
  const [instants, fills] = [Float64Array.of(NOW - HOUR, NOW), Float64Array.of(50, 49)];
  await assert.rejects(compute([{ instants, fills: undefined as never }]), TypeError);
  assert.equal((await compute([{ instants: Float64Array.of(NOW), fills }])).forecast.state, "insufficient_data");
});

/** Linux knows each thread by an id of its own. */
const threadPriorities = (): number[] => readdirSync("/proc/self/task").map((id) => getPriority(Number(id)));

test("the thread has a lower priority than reads and writes, on Linux", { skip: process.platform !== "linux" }, async (t) => {
  const low = Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL);
  const before = threadPriorities().filter((priority) => priority === low).length;
  const thread = new ForecastThread();
  t.after(() => thread.close());
  const parts = [{ instants: Float64Array.of(NOW), fills: Float64Array.of(49) }];
  await thread.compute({ tank: tank("one", "a"), latestAt: NOW, latestFill: 49, parts, now: NOW });
  assert.ok(threadPriorities().filter((priority) => priority === low).length > before);
});

for (const engine of [sqliteEngine, postgresEngine]) suite(`forecasts on ${engine.name}`, () => forecastJob(engine));
