// Alerts as the rules say, written without looking at how the service does it: after every commit the tanks that it touched are
// evaluated by their newest reading and their forecast, and at every sweep all tanks are.

import type { TankState } from "../../../src/domain/changes.ts";
import type { Leak } from "../../../src/domain/forecast/leak.ts";
import type { Reading } from "../../../src/domain/reading.ts";

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MARGIN = 3;
const SILENT_AFTER = 48 * HOUR;

/** What alerts depend on. `readings`: oldest first. */
export type TankFacts = { readonly state: TankState; readonly readings: readonly Reading[] };
export type Facts = ReadonlyMap<string, TankFacts>;

const KINDS = ["low", "silent", "runs_low_soon", "leak"] as const;
type Kind = (typeof KINDS)[number];

/** A forecast as it was stored. */
export type NaiveForecast = {
  readonly state: "ok" | "no_use" | "stale" | "insufficient_data";
  readonly computedAt: number;
  readonly runsLowAt: number | null;
  /** Its newest reading may be a delivery. */
  readonly isRisen: boolean;
  readonly leak: Leak | "none" | "ending" | null;
  /** The newest reading that it knows. */
  readonly knows: Reading;
  /** The instant of the newest reading that was looked at. */
  readonly until: number;
  /** Another one has to be computed: this one counts no more. */
  readonly isOutdated: boolean;
};

export type NaiveAlert = {
  readonly tank: string;
  readonly kind: Kind;
  state: "open" | "acknowledged" | "closed";
  readonly openedAt: number;
  closedAt: number | null;
  reason: string | null;
  readonly threshold: number;
  readonly fill: number;
  readonly runsLowAt: number | null;
  readonly leakSince: number | null;
  /** Set when it is closed. */
  latest: Reading | undefined;
};

/** `settings`: a commit with changed settings and no new newest reading. */
type Cause = "commit" | "settings" | "sweep" | "forecast";

/** `shouldNotify`: channels are notified. */
export type NaiveEvent = { readonly tank: string; readonly kind: Kind; readonly type: string; readonly shouldNotify: boolean };

export class NaiveAlerts {
  alerts: NaiveAlert[] = [];
  events: NaiveEvent[] = [];
  /** Deferred mail to owners, of low alerts only: "owner tank event". */
  ownerMail: string[] = [];
  /** Active conditions: opened and not cleared since, whether or not their alert was closed manually: "tank kind". */
  #active = new Set<string>();
  /** Tanks that are low by an old reading, of which nobody was notified. */
  #unannounced = new Set<string>();
  /** Those of them that a recent reading has confirmed during a pause. */
  #confirmed = new Set<string>();
  #owners = new Map<string, string>();
  #forecasts = new Map<string, NaiveForecast>();
  /** Tanks of whose forecast newer readings may be about to follow. */
  #provisional = new Set<string>();
  /** When a setting of a tank with readings was last changed: it is not silent since longer than that. */
  #changedAt = new Map<string, number>();
  #lastSweep: number | undefined;
  #downtimeEndedAt = Number.NEGATIVE_INFINITY;

  copy(): NaiveAlerts {
    const copy = new NaiveAlerts();
    copy.alerts = this.alerts.map((alert) => ({ ...alert }));
    copy.events = [...this.events];
    copy.ownerMail = [...this.ownerMail];
    copy.#owners = new Map(this.#owners);
    copy.#active = new Set(this.#active);
    copy.#unannounced = new Set(this.#unannounced);
    copy.#confirmed = new Set(this.#confirmed);
    copy.#forecasts = new Map(this.#forecasts);
    copy.#provisional = new Set(this.#provisional);
    copy.#changedAt = new Map(this.#changedAt);
    copy.#lastSweep = this.#lastSweep;
    copy.#downtimeEndedAt = this.#downtimeEndedAt;
    return copy;
  }

  commit(before: Facts, after: Facts, now: number): void {
    for (const [tank, facts] of after) {
      const known = before.get(tank);
      if (known !== undefined && JSON.stringify(fleetFieldsOf(known)) !== JSON.stringify(fleetFieldsOf(facts))) {
        const isSameThreshold = fleetFieldsOf(known).threshold === fleetFieldsOf(facts).threshold;
        this.#updateForecast(tank, facts, isSameThreshold, now);
      }
      this.#owners.set(tank, facts.state.tank.owner_id);
      const isMoved = known !== undefined && known.state.tank.owner_id !== facts.state.tank.owner_id;
      if (isMoved && !facts.state.deleted) this.#tellNewOwner(tank);
      const hasNewSettings = known !== undefined && settingsOf(known) !== settingsOf(facts);
      if (hasNewSettings && facts.readings.length > 0) this.#changedAt.set(tank, now);
      const hasNewReading = JSON.stringify(known?.readings.at(-1)) !== JSON.stringify(facts.readings.at(-1));
      if (isTouched(known, facts)) this.#evaluate(tank, facts, now, hasNewSettings && !hasNewReading ? "settings" : "commit");
    }
  }

  /** Of live tanks with readings. */
  forecast(forecasts: ReadonlyMap<string, NaiveForecast>, facts: Facts, now: number): void {
    for (const [tank, forecast] of forecasts) {
      this.#provisional.delete(tank);
      const isFirstOfOld = this.#forecasts.get(tank)?.until !== forecast.until && now - forecast.until > 8 * DAY;
      if (isFirstOfOld || this.#isBeforeDowntime(forecast.until, now)) this.#provisional.add(tank);
      this.#forecasts.set(tank, forecast);
      this.#evaluate(tank, facts.get(tank) as TankFacts, now, "forecast");
    }
  }

  /** Since this instant we were down for an hour, or the clock jumped, and the tank had no time to send. */
  #isBeforeDowntime(until: number, now: number): boolean {
    if (this.#lastSweep === undefined) return false;
    if (Math.abs(now - this.#lastSweep) > HOUR) return until <= this.#lastSweep;
    return until < this.#downtimeEndedAt && now < this.#downtimeEndedAt + SILENT_AFTER;
  }

  /** The fleet order is updated. */
  updateOrder(facts: Facts, now: number): void {
    for (const [tank, one] of facts) this.#updateForecast(tank, one, true, now);
  }

  /** A forecast that is over a day old, or does not know the newest reading or the threshold, has to be computed again. */
  #updateForecast(tank: string, { state, readings }: TankFacts, isSameThreshold: boolean, now: number): void {
    const forecast = this.#forecasts.get(tank);
    if (forecast === undefined) return;
    if (state.deleted) this.#forecasts.delete(tank);
    else if (
      !isSameThreshold ||
      !knows(forecast, readings) ||
      now - forecast.computedAt >= DAY ||
      forecast.computedAt - now > MINUTE
    ) {
      this.#forecasts.set(tank, { ...forecast, isOutdated: true });
    }
  }

  /** False: too soon after the last one. */
  sweep(facts: Facts, now: number): boolean {
    const passed = this.#lastSweep === undefined ? HOUR : now - this.#lastSweep;
    if (Math.abs(passed) < 25_000) return false;
    if (Math.abs(passed) > HOUR) this.#downtimeEndedAt = now;
    this.#lastSweep = now;
    for (const [tank, one] of facts) this.#evaluate(tank, one, now, "sweep");
    return true;
  }

  acknowledge(tank: string, kind: Kind): boolean {
    const alert = this.unclosed(tank, kind);
    if (alert?.state !== "open") return false;
    alert.state = "acknowledged";
    this.#addEvent({ tank, kind, type: "alert.acknowledged", shouldNotify: true });
    return true;
  }

  closeByHand(tank: string, kind: Kind, facts: Facts, now: number): boolean {
    const alert = this.unclosed(tank, kind);
    if (alert === undefined) return false;
    this.#close(alert, "manual", facts.get(tank)?.readings.at(-1), now, true);
    return true;
  }

  unclosed(tank: string, kind: Kind): NaiveAlert | undefined {
    return this.alerts.find((alert) => alert.tank === tank && alert.kind === kind && alert.state !== "closed");
  }

  #evaluate(tank: string, { state, readings }: TankFacts, now: number, by: Cause): void {
    const latest = readings.at(-1);
    if (state.deleted) {
      for (const alert of this.alerts) {
        if (alert.tank === tank && alert.state !== "closed") this.#close(alert, "tank_deleted", latest, now, true);
      }
      for (const kind of KINDS) this.#active.delete(`${tank} ${kind}`);
      this.#unannounced.delete(tank);
      this.#confirmed.delete(tank);
      return;
    }
    if (latest === undefined) return;
    const { silent_after, paused_until } = state.alerts;
    const isPaused = paused_until !== null && paused_until > now;
    const threshold = state.tank.min_fill_alert_percentage;
    const fill = latest.fill_percentage;
    const isRecent = now - latest.created_at <= DAY;
    const isCommit = by === "commit" || by === "settings";
    // Without a new reading, only a setting can have cleared a condition.
    const recovered = by === "settings" ? "setting_changed" : "recovered";
    if (this.#active.has(`${tank} low`)) {
      if (isAbove(fill, threshold)) {
        const alert = this.unclosed(tank, "low");
        const reason = alert !== undefined && isAbove(fill, alert.threshold) ? recovered : "threshold_changed";
        this.#clear(tank, "low", reason, latest, now, !this.#unannounced.delete(tank));
        this.#confirmed.delete(tank);
      } else {
        const isConfirmed = this.#confirmed.delete(tank) || (isCommit && isRecent);
        if (isConfirmed && fill <= threshold && this.#unannounced.has(tank)) {
          // At the end of the pause.
          if (isPaused || by === "forecast") this.#confirmed.add(tank);
          else this.#announce(tank);
        }
      }
    } else if (fill <= threshold && !isPaused) {
      this.#open(tank, "low", threshold, latest, now, isRecent);
      if (!isRecent) this.#unannounced.add(tank);
    }

    const isLow = fill <= threshold || this.#active.has(`${tank} low`);
    // A low alert that nobody was notified of, or that nobody would be, replaces nothing.
    const isLowUnannounced = this.#active.has(`${tank} low`) ? this.#unannounced.has(tank) : !isRecent || isPaused;
    const stored = this.#forecasts.get(tank);
    const forecast = stored !== undefined && !stored.isOutdated && knows(stored, readings) ? stored : undefined;
    const saysNothing = forecast === undefined || forecast.state === "stale" || forecast.state === "insufficient_data";
    const days = saysNothing ? Number.NaN : ((forecast.runsLowAt ?? Number.POSITIVE_INFINITY) - forecast.computedAt) / DAY;
    if (this.#active.has(`${tank} runs_low_soon`)) {
      const alert = this.unclosed(tank, "runs_low_soon");
      const isByThreshold = alert !== undefined && threshold < alert.threshold && fill <= alert.fill;
      const cleared = isByThreshold ? "threshold_changed" : recovered;
      const becameLow = isLowUnannounced ? undefined : "became_low";
      const reason = state.alerts.runs_low_soon ? (isLow ? becameLow : days > 9.75 ? cleared : undefined) : "turned_off";
      if (reason !== undefined) this.#clear(tank, "runs_low_soon", reason, latest, now, true);
    } else if (
      state.alerts.runs_low_soon &&
      !isLow &&
      !isPaused &&
      days <= 7 &&
      !forecast?.isRisen &&
      !this.#provisional.has(tank)
    ) {
      this.#open(tank, "runs_low_soon", threshold, latest, now, true, { runsLowAt: forecast?.runsLowAt ?? null });
    }
    const leak = forecast?.leak ?? "ending";
    const isLeakRecent = forecast !== undefined && forecast.computedAt - latest.created_at <= 8 * DAY;
    const lastLeak = this.alerts.findLast((alert) => alert.tank === tank && alert.kind === "leak");
    const isLater = typeof leak === "object" && leak.isSudden && leak.since > (lastLeak?.openedAt ?? Number.POSITIVE_INFINITY);
    // A theft after the alert was opened has one of its own.
    if (isLater && state.alerts.leak && !isPaused && isLeakRecent && this.#active.has(`${tank} leak`)) {
      this.#clear(tank, "leak", "replaced", latest, now, true);
    }
    if (this.#active.has(`${tank} leak`)) {
      const reason = state.alerts.leak ? (leak === "none" ? recovered : undefined) : "turned_off";
      if (reason !== undefined) this.#clear(tank, "leak", reason, latest, now, true);
    } else if (state.alerts.leak && !isPaused && typeof leak === "object" && isLeakRecent) {
      this.#open(tank, "leak", threshold, latest, now, true, { leakSince: leak.since });
    }

    const interval = usualInterval(readings);
    const limit = Math.max(silent_after ?? SILENT_AFTER, 3 * (interval ?? 0));
    // After a downtime, tanks have as long as that to send, or three intervals, but an hour at least.
    const timeToSend = interval === undefined ? limit : Math.min(limit, Math.max(HOUR, 3 * interval));
    const silentAt = Math.max(latest.created_at + limit, this.#downtimeEndedAt + timeToSend);
    if (!this.#active.has(`${tank} silent`)) {
      if (by === "sweep" && now >= silentAt && !isPaused) {
        const dueAt = Math.max(silentAt, paused_until ?? silentAt, this.#changedAt.get(tank) ?? silentAt);
        this.#open(tank, "silent", threshold, latest, now, now - dueAt <= DAY);
      }
    } else if (isCommit && now - latest.created_at < limit) this.#clear(tank, "silent", recovered, latest, now, true);
  }

  /** A low alert that nobody was notified of. */
  #announce(tank: string): void {
    this.#unannounced.delete(tank);
    if (this.unclosed(tank, "low")?.state !== "open") return;
    this.#addEvent({ tank, kind: "low", type: "alert.opened", shouldNotify: true });
  }

  #open(
    tank: string,
    kind: Kind,
    threshold: number,
    latest: Reading,
    now: number,
    shouldNotify: boolean,
    forecast: Partial<Pick<NaiveAlert, "runsLowAt" | "leakSince">> = {},
  ): void {
    this.#active.add(`${tank} ${kind}`);
    const alert = { tank, kind, state: "open", openedAt: now, closedAt: null, reason: null, threshold } as const;
    const fill = latest.fill_percentage;
    this.alerts.push({ ...alert, fill, runsLowAt: null, leakSince: null, ...forecast, latest: undefined });
    this.#addEvent({ tank, kind, type: "alert.opened", shouldNotify });
  }

  #clear(tank: string, kind: Kind, reason: string, latest: Reading, now: number, shouldNotify: boolean): void {
    this.#active.delete(`${tank} ${kind}`);
    const alert = this.unclosed(tank, kind);
    if (alert === undefined) return;
    // Who has acknowledged it knows of it.
    this.#close(alert, reason, latest, now, shouldNotify || alert.state === "acknowledged");
  }

  #close(alert: NaiveAlert, reason: string, latest: Reading | undefined, now: number, shouldNotify: boolean): void {
    alert.state = "closed";
    alert.closedAt = now;
    alert.reason = reason;
    alert.latest = latest;
    this.#addEvent({ tank: alert.tank, kind: alert.kind, type: "alert.closed", shouldNotify }, reason);
  }

  #addEvent(event: NaiveEvent, reason?: string): void {
    this.events.push(event);
    const { tank, kind, type, shouldNotify } = event;
    if (kind !== "low" || !shouldNotify) return;
    if (type === "alert.opened") this.#planMail(tank, "alert.opened", "alert.reminder");
    if (reason === "recovered") this.#planMail(tank, "alert.closed");
  }

  /** Of an alert that people know of; nobody is reminded if somebody handles it. */
  #tellNewOwner(tank: string): void {
    const alert = this.unclosed(tank, "low");
    if (alert === undefined || this.#unannounced.has(tank)) return;
    this.#planMail(tank, "alert.opened", ...(alert.state === "open" ? ["alert.reminder"] : []));
  }

  #planMail(tank: string, ...events: readonly string[]): void {
    for (const event of events) this.ownerMail.push(`${this.#owners.get(tank)} ${tank} ${event}`);
  }
}

const isAbove = (fill: number, threshold: number): boolean => fill > threshold && fill >= Math.min(threshold + MARGIN, 100);

function knows({ knows: known }: NaiveForecast, readings: readonly Reading[]): boolean {
  const latest = readings.at(-1);
  return known.created_at === latest?.created_at && known.fill_percentage === latest.fill_percentage;
}

const fleetFieldsOf = ({ state: { tank, deleted } }: TankFacts) => ({
  deleted,
  threshold: tank.min_fill_alert_percentage,
  owner: tank.owner_id,
});

function usualInterval(readings: readonly Reading[]): number | undefined {
  const intervals = readings.slice(1).map(({ created_at }, i) => created_at - (readings[i] as Reading).created_at);
  return intervals.sort((a, b) => a - b)[intervals.length >> 1];
}

/** Its readings changed, or one of the fields that alerts depend on. */
function isTouched(before: TankFacts | undefined, after: TankFacts): boolean {
  if (JSON.stringify(before?.readings ?? []) !== JSON.stringify(after.readings)) return true;
  return before !== undefined && settingsOf(before) !== settingsOf(after);
}

const settingsOf = ({ state: { tank, deleted, alerts } }: TankFacts): string =>
  JSON.stringify([deleted, tank.min_fill_alert_percentage, tank.owner_id, alerts]);
