// Runs a history on a store and on the naive rules, and compares alerts, events and notifications after every step.

import assert from "node:assert/strict";
import type { Alert } from "../../../src/domain/alerts/alert.ts";
import { DEFAULT_ALERT_SETTINGS } from "../../../src/domain/alerts/evaluate.ts";
import type { Command } from "../../../src/domain/commands/command.ts";
import { type ComputedForecast, forecastSettings } from "../../../src/domain/forecast/stored.ts";
import { formatInstant } from "../../../src/domain/instant.ts";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Store } from "../../../src/domain/store.ts";
import { at, command } from "../../support/commands.ts";
import { incomingBatch, type SentReading } from "../../support/readings.ts";
import type { Lifetime } from "../../support/service.ts";
import { alertsOf } from "../alert-support.ts";
import { checked, customer, tank, WHOLE } from "../conformance/objects.ts";
import type { Engine, Opened } from "../engines.ts";
import { ModelStore } from "../model.ts";
import { runSql } from "../raw-sql.ts";
import { type Facts, NaiveAlerts, type NaiveForecast, type TankFacts } from "./naive.ts";
import { type AlertStep, CUSTOMERS, DEVICES, type GivenForecast, TANKS } from "./steps.ts";

const MINUTE = 60_000;
const HALF_HOUR = 30 * MINUTE;
const START = Date.parse("2026-06-01T00:00:00Z");

/** Throws with the step at which the store differs. */
export async function runHistory(engine: Engine, life: Lifetime, steps: readonly AlertStep[]): Promise<void> {
  const run = await AlertRun.open(engine, life);
  for (const [i, step] of steps.entries()) {
    try {
      await run.execute(step);
    } catch (cause) {
      throw new Error(`step ${i}, ${JSON.stringify(step)}: ${(cause as Error).message}`, { cause });
    }
  }
  await run.finish();
}

class AlertRun {
  readonly #opened: Opened;
  #store: Store;
  readonly #model = new ModelStore();
  #naive = new NaiveAlerts();
  #now = START;
  /** Events that were compared already. */
  #seen = 0;

  private constructor(opened: Opened) {
    this.#opened = opened;
    this.#store = opened.store;
  }

  static async open(engine: Engine, life: Lifetime): Promise<AlertRun> {
    const run = new AlertRun(await engine.open(life));
    for (const store of [run.#store, run.#model]) {
      await store.importCustomers(CUSTOMERS.map((id) => ({ customer: customer(id), deleted: false })));
      const tanks = TANKS.map((id, i) => tank(id, CUSTOMERS[i % 2] ?? "", { assigned_device_id: DEVICES[i] ?? "" }));
      await store.importTanks(
        tanks.map((one) => ({ tank: one, deleted: false })),
        at(START),
      );
    }
    const fields = { type: "webhook", url: "https://hooks.example.com/" };
    const channel: Command = { type: "create_channel", newId: "chn_all", fields, secret: "whsec_", webhookAllow: [] };
    await run.#store.execute(channel, at(START));
    return run;
  }

  async finish(): Promise<void> {
    assert.deepEqual((await checked(this.#store)).findings, []);
    const deferred = await runSql(this.#opened.url, "SELECT recipient, tank_id, event FROM deferred_notification");
    assert.deepEqual(
      deferred.map(({ recipient, tank_id, event }) => `${recipient} ${tank_id} ${event}`).sort(),
      this.#naive.ownerMail.toSorted(),
      "mail to owners",
    );
    await this.#store.close();
  }

  async execute(step: AlertStep): Promise<void> {
    switch (step.do) {
      case "ingest":
        return this.#ingest(step.batches.map((batch) => batch.map((reading) => this.#sent(reading))));
      case "threshold":
        return this.#command(command.changeTank(step.tank, { min_fill_alert_percentage: step.threshold }));
      case "delete":
        return this.#command(command.deleteTank(step.tank));
      case "restore":
        return this.#command(command.restoreTank(step.tank));
      case "deleteCustomer":
        return this.#command(command.deleteCustomer(step.customer, true));
      case "restoreCustomer":
        return this.#command(command.restoreCustomer(step.customer));
      case "owner":
        return this.#command(command.changeTank(step.tank, { owner_id: step.customer }));
      case "device":
        return this.#command(command.changeTank(step.tank, { assigned_device_id: step.device }, { swap: true }));
      case "pause": {
        const paused_until = step.hours === null ? null : formatInstant(this.#now + step.hours * 2 * HALF_HOUR);
        return this.#command(command.changeTank(step.tank, { alerts: { paused_until } }));
      }
      case "silentAfter":
        return this.#command(
          command.changeTank(step.tank, { alerts: { silent_after: step.hours === null ? null : `${step.hours}h` } }),
        );
      case "import": {
        const known = (await this.#model.managedTank(step.tank))?.tank.assigned_device_id ?? "";
        const fields = { assigned_device_id: known, min_fill_alert_percentage: step.threshold };
        const record = { tank: tank(step.tank, step.customer, fields), deleted: step.deleted };
        return this.#commit((store) => store.importTanks([record], at(this.#now)));
      }
      case "forecast":
        return this.#forecast(step.forecasts);
      case "kinds": {
        const { runs_low_soon, leak } = step;
        return this.#command(command.changeTank(step.tank, { alerts: { runs_low_soon, leak } }));
      }
      case "update_order":
        await this.#store.updateSortKeys(TANKS, this.#now);
        this.#naive.updateOrder(await this.#facts(), this.#now);
        return this.#compareWithOneOf([this.#naive]);
      case "acknowledge":
      case "close":
        return this.#byHand(step.do, step.tank, step.kind);
      case "sweep":
        return this.#sweep();
      case "run":
        return this.#runFor(step.minutes);
      case "setBack":
        this.#now += step.ahead * MINUTE;
        await this.#sweep();
        this.#now -= (step.ahead - 1) * MINUTE;
        await this.#sweep();
        return this.#runFor(step.minutes);
      case "jump":
        this.#now += step.minutes * MINUTE;
        return;
      case "reopen":
        await this.#store.close();
        this.#store = await this.#opened.reopen();
    }
  }

  /** Swept as often as it matters. */
  async #runFor(minutes: number): Promise<void> {
    for (const end = this.#now + minutes * MINUTE; this.#now < end; ) {
      this.#now = Math.min(end, this.#now + 59 * MINUTE);
      await this.#sweep();
    }
  }

  #sent({ source, age, fill }: { source: { tank: string } | { device: string }; age: number; fill: number }): SentReading {
    // On a grid, so that instants repeat.
    return { ...source, fill, at: (Math.floor(this.#now / HALF_HOUR) - age) * HALF_HOUR };
  }

  /** Batches that are sent at once may share commits: any grouping of them, in their order, is right. */
  async #ingest(batches: readonly SentReading[][]): Promise<void> {
    const incoming = batches.map((batch) => ({ ...incomingBatch(batch), receivedAt: this.#now }));
    const facts = [await this.#facts()];
    await Promise.all(incoming.map((batch) => this.#store.ingest(batch)));
    for (const batch of incoming) {
      await this.#model.ingest(batch);
      facts.push(await this.#facts());
    }
    const candidates = groupings(batches.length).map((ends) => {
      const naive = this.#naive.copy();
      let from = 0;
      for (const end of ends) {
        naive.commit(facts[from] as Facts, facts[end] as Facts, this.#now);
        from = end;
      }
      return naive;
    });
    await this.#compareWithOneOf(candidates);
  }

  #command(given: Command): Promise<void> {
    return this.#commit((store) => store.execute(given, at(this.#now)));
  }

  async #commit(write: (store: Store | ModelStore) => Promise<unknown>): Promise<void> {
    const before = await this.#facts();
    await write(this.#store);
    await write(this.#model);
    this.#naive.commit(before, await this.#facts(), this.#now);
    await this.#compareWithOneOf([this.#naive]);
  }

  async #forecast(given: readonly GivenForecast[]): Promise<void> {
    const facts = await this.#facts();
    const [computed, naive]: [ComputedForecast[], Map<string, NaiveForecast>] = [[], new Map()];
    for (const one of given) {
      const { state, readings } = facts.get(one.tank) ?? {};
      const knows = readings?.at(-1);
      if (knows === undefined || state === undefined) continue;
      const runsLowAt = one.state === "ok" && one.daysLeft !== null ? this.#now + one.daysLeft * 48 * HALF_HOUR : null;
      const leak = leakOf(one.leak, this.#now);
      const when = { p10: runsLowAt, p50: runsLowAt, p90: null };
      const values = { use_per_day: null, runs_low_at: when, runs_empty_at: when, suggested_delivery: null };
      const latestAt = knows.created_at - Number(one.isLate);
      const forecast = { state: one.state, based_on_until: latestAt, ...values, level: null, isRisen: one.isRisen, leak };
      const known = { settings: forecastSettings(state.tank), latestAt, latestFill: knows.fill_percentage };
      computed.push({ tankId: one.tank, ...known, forecast, refills: [] });
      const { isRisen, isLate: isOutdated } = one;
      const stored = { state: one.state, computedAt: this.#now, runsLowAt, isRisen, leak, knows, until: latestAt, isOutdated };
      if (!state.deleted) naive.set(one.tank, stored);
    }
    await this.#store.storeForecasts(computed, this.#now);
    this.#naive.forecast(naive, facts, this.#now);
    await this.#compareWithOneOf([this.#naive]);
  }

  async #byHand(action: "acknowledge" | "close", tankId: string, kind: Alert["kind"]): Promise<void> {
    const alert = (await this.#store.alertsNotClosed([tankId])).find((one) => one.kind === kind);
    assert.equal(alert?.state, this.#naive.unclosed(tankId, kind)?.state);
    if (alert === undefined) return;
    const given = action === "close" ? command.closeAlert(alert.id) : command.acknowledgeAlert(alert.id);
    await this.#store.execute(given, at(this.#now));
    if (action === "close") this.#naive.closeByHand(tankId, kind, await this.#facts(), this.#now);
    else this.#naive.acknowledge(tankId, kind);
    await this.#compareWithOneOf([this.#naive]);
  }

  async #sweep(): Promise<void> {
    let claimedAt: number | undefined;
    let swept = false;
    for (let hasMore = true; hasMore; ) {
      ({ claimedAt, hasMore } = await this.#store.sweepAlerts({ claimedAt, at: this.#now, settings: DEFAULT_ALERT_SETTINGS }));
      swept ||= claimedAt !== undefined;
    }
    assert.equal(this.#naive.sweep(await this.#facts(), this.#now), swept, "whether it was swept");
    await this.#compareWithOneOf([this.#naive]);
  }

  async #facts(): Promise<Facts> {
    const found = new Map<string, TankFacts>();
    for (const id of TANKS) {
      const state = await this.#model.managedTank(id);
      if (state !== undefined) found.set(id, { state, readings: this.#model.readings(id).toReversed() });
    }
    return found;
  }

  async #compareWithOneOf(candidates: readonly NaiveAlerts[]): Promise<void> {
    const facts = await this.#facts();
    const actual = { alerts: await this.#actualAlerts(), events: await this.#actualEvents() };
    const expected = candidates.map((naive) => ({ naive, alerts: naiveAlerts(naive, facts), events: naiveEvents(naive) }));
    const matching = expected.find(({ alerts, events }) => isSame(actual, { alerts, events }));
    if (matching === undefined) {
      const { alerts, events } = expected.at(-1) ?? {};
      assert.deepEqual(actual, { alerts, events });
    }
    this.#naive = (matching ?? (expected[0] as (typeof expected)[number])).naive;
  }

  async #actualAlerts(): Promise<string[]> {
    const { data, totalItems } = await alertsOf(this.#store, { size: 1000 });
    assert.equal(data.length, totalItems);
    return data
      .map(({ tank_id, kind, owner_id, state, opened_at, closed_at, close_reason, threshold, fill_percentage, ...rest }) =>
        JSON.stringify([
          ...[tank_id, kind, owner_id, state, opened_at, closed_at, close_reason, threshold, fill_percentage],
          ...[rest.latest_reading_at, rest.latest_fill_percentage, rest.runs_low_at, rest.leak?.since ?? null],
        ]),
      )
      .sort();
  }

  /** By tank, in their order; each with the number of notifications of it. */
  async #actualEvents(): Promise<string[]> {
    const { data: notifications } = await this.#store.notificationPage({
      ...{ ...WHOLE, size: 1000 },
      ...{ channel_id: "chn_all", customer_id: undefined, alert_id: undefined, state: undefined },
    });
    const counts = Map.groupBy(notifications, ({ event, alert_ids }) => `${event} ${alert_ids.join()}`);
    const { payloads } = await this.#store.eventFeed({ after: 0, size: 10_000 }, UNRESTRICTED);
    const events = payloads.map((payload) => JSON.parse(payload) as { type: string; sequence: number; data: { alert: Alert } });
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      events.map((_, i) => i + 1),
      "events are numbered without gaps",
    );
    assert.ok(events.length >= this.#seen, "no event is lost");
    this.#seen = events.length;
    // Of two events that an alert was opened, the first one may have been old, so that only the second one has notifications.
    const bySubject = Map.groupBy(events, ({ type, data: { alert } }) => `${type} ${alert.id}`);
    return byTank(
      events.map((event) => {
        const { kind, id, tank_id: tank } = event.data.alert;
        const subject = `${event.type} ${id}`;
        const same = bySubject.get(subject) ?? [];
        const notified = (counts.get(subject)?.length ?? 0) - (same.length - 1 - same.indexOf(event));
        return { tank, text: `${kind} ${event.type} ${Math.max(0, event === same[0] ? notified : Math.min(1, notified))}` };
      }),
    );
  }
}

function leakOf(given: GivenForecast["leak"], now: number): NaiveForecast["leak"] {
  if (given === "open") return { since: now - 1000, excess: 1.5, isSudden: false };
  if (given === "theft") return { since: now - 1000, excess: 30, isSudden: true };
  return given === "theft a day ago" ? { since: now - 48 * HALF_HOUR, excess: 30, isSudden: true } : given;
}

const isSame = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);

function naiveAlerts(naive: NaiveAlerts, facts: Facts): string[] {
  return naive.alerts
    .map((alert) => {
      const { state, readings } = facts.get(alert.tank) as TankFacts;
      const latest = alert.state === "closed" ? alert.latest : readings.at(-1);
      const { tank: tankId, kind, openedAt, closedAt, reason, threshold, fill, runsLowAt, leakSince } = alert;
      return JSON.stringify([
        ...[tankId, kind, state.tank.owner_id, alert.state, openedAt, closedAt, reason, threshold, fill],
        ...[latest?.created_at, latest?.fill_percentage, runsLowAt, leakSince],
      ]);
    })
    .sort();
}

const naiveEvents = (naive: NaiveAlerts): string[] =>
  byTank(
    naive.events.map(({ tank: tankId, kind, type, shouldNotify }) => ({
      tank: tankId,
      text: `${kind} ${type} ${Number(shouldNotify)}`,
    })),
  );

/** Of two kinds that change in one commit, either may come first. */
function byTank(events: readonly { readonly tank: string; readonly text: string }[]): string[] {
  const named = events.map(({ tank: tankId, text }) => `${tankId} ${text}`);
  return [...Map.groupBy(named, (text) => text.split(" ", 2).join(" "))].flatMap(([, own]) => own.join("\n")).sort();
}

/** All ways to cut a list of this length into consecutive groups, as the ends of the groups. */
function groupings(length: number): number[][] {
  const inner = Array.from({ length: length - 1 }, (_, i) => i + 1);
  return Array.from({ length: 2 ** inner.length }, (_, bits) => [...inner.filter((_end, i) => (bits >> i) & 1), length]);
}
