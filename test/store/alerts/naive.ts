// Alerts as the rules say, written without looking at how the service does it: after every commit the tanks that it touched are
// judged by their newest reading, and at every sweep all tanks are.

import type { TankState } from "../../../src/domain/changes.ts";
import type { Reading } from "../../../src/domain/reading.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MARGIN = 3;
const SILENT_AFTER = 48 * HOUR;

/** What alerts depend on. `readings`: oldest first. */
export type TankFacts = { readonly state: TankState; readonly readings: readonly Reading[] };
export type Facts = ReadonlyMap<string, TankFacts>;

type Kind = "low" | "silent";

export type NaiveAlert = {
  readonly tank: string;
  readonly kind: Kind;
  state: "open" | "acknowledged" | "closed";
  readonly openedAt: number;
  closedAt: number | null;
  reason: string | null;
  readonly threshold: number;
  readonly fill: number;
  /** Set when it is closed. */
  latest: Reading | undefined;
};

/** `isNews`: channels are notified. */
export type NaiveEvent = { readonly tank: string; readonly kind: Kind; readonly type: string; readonly isNews: boolean };

export class NaiveAlerts {
  alerts: NaiveAlert[] = [];
  events: NaiveEvent[] = [];
  /** Conditions that were noticed and have not cleared since, whether or not their alert was closed by hand: "tank kind". */
  #noticed = new Set<string>();
  #lastSweep: number | undefined;
  #silenceFrom = Number.NEGATIVE_INFINITY;

  copy(): NaiveAlerts {
    const copy = new NaiveAlerts();
    copy.alerts = this.alerts.map((alert) => ({ ...alert }));
    copy.events = [...this.events];
    copy.#noticed = new Set(this.#noticed);
    copy.#lastSweep = this.#lastSweep;
    copy.#silenceFrom = this.#silenceFrom;
    return copy;
  }

  commit(before: Facts, after: Facts, now: number): void {
    for (const [tank, facts] of after) {
      const known = before.get(tank);
      if (isTouched(known, facts)) this.#judge(tank, facts, now, false);
    }
  }

  /** False: too soon after the last one. */
  sweep(facts: Facts, now: number): boolean {
    const passed = this.#lastSweep === undefined ? HOUR : now - this.#lastSweep;
    if (Math.abs(passed) < 25_000) return false;
    if (Math.abs(passed) > HOUR) this.#silenceFrom = now;
    this.#lastSweep = now;
    for (const [tank, one] of facts) this.#judge(tank, one, now, true);
    return true;
  }

  acknowledge(tank: string, kind: Kind): boolean {
    const alert = this.unclosed(tank, kind);
    if (alert?.state !== "open") return false;
    alert.state = "acknowledged";
    this.events.push({ tank, kind, type: "alert.acknowledged", isNews: true });
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

  #judge(tank: string, { state, readings }: TankFacts, now: number, isSweep: boolean): void {
    const latest = readings.at(-1);
    if (state.deleted) {
      for (const alert of this.alerts) {
        if (alert.tank === tank && alert.state !== "closed") this.#close(alert, "tank_deleted", latest, now, true);
      }
      for (const kind of ["low", "silent"]) this.#noticed.delete(`${tank} ${kind}`);
      return;
    }
    if (latest === undefined) return;
    const { silent_after, paused_until } = state.alerts;
    const isPaused = paused_until !== null && paused_until > now;
    const threshold = state.tank.min_fill_alert_percentage;
    const fill = latest.fill_percentage;
    const isRecent = now - latest.created_at <= DAY;
    if (this.#noticed.has(`${tank} low`)) {
      if (isAbove(fill, threshold)) {
        const alert = this.unclosed(tank, "low");
        const reason = alert !== undefined && isAbove(fill, alert.threshold) ? "recovered" : "threshold_changed";
        this.#clear(tank, "low", reason, latest, now, isRecent);
      }
    } else if (fill <= threshold && !isPaused) this.#open(tank, "low", threshold, latest, now, isRecent);

    const limit = Math.max(silent_after ?? SILENT_AFTER, 3 * usualInterval(readings));
    const silentAt = Math.max(latest.created_at, this.#silenceFrom) + limit;
    if (!this.#noticed.has(`${tank} silent`)) {
      if (isSweep && now >= silentAt && !isPaused) this.#open(tank, "silent", threshold, latest, now, now - silentAt <= DAY);
    } else if (!isSweep && now - latest.created_at < limit) this.#clear(tank, "silent", "recovered", latest, now, true);
  }

  #open(tank: string, kind: Kind, threshold: number, latest: Reading, now: number, isNews: boolean): void {
    this.#noticed.add(`${tank} ${kind}`);
    const alert = { tank, kind, state: "open", openedAt: now, closedAt: null, reason: null, threshold } as const;
    this.alerts.push({ ...alert, fill: latest.fill_percentage, latest: undefined });
    this.events.push({ tank, kind, type: "alert.opened", isNews });
  }

  #clear(tank: string, kind: Kind, reason: string, latest: Reading, now: number, isNews: boolean): void {
    this.#noticed.delete(`${tank} ${kind}`);
    const alert = this.unclosed(tank, kind);
    if (alert !== undefined) this.#close(alert, reason, latest, now, isNews);
  }

  #close(alert: NaiveAlert, reason: string, latest: Reading | undefined, now: number, isNews: boolean): void {
    alert.state = "closed";
    alert.closedAt = now;
    alert.reason = reason;
    alert.latest = latest;
    this.events.push({ tank: alert.tank, kind: alert.kind, type: "alert.closed", isNews });
  }
}

const isAbove = (fill: number, threshold: number): boolean => fill > threshold && fill >= Math.min(threshold + MARGIN, 100);

function usualInterval(readings: readonly Reading[]): number {
  const intervals = readings.slice(1).map(({ created_at }, i) => created_at - (readings[i] as Reading).created_at);
  return intervals.sort((a, b) => a - b)[intervals.length >> 1] ?? 0;
}

/** Its readings changed, or one of the fields that alerts depend on. */
function isTouched(before: TankFacts | undefined, after: TankFacts): boolean {
  const settings = ({ state: { tank, deleted, alerts } }: TankFacts) =>
    JSON.stringify([deleted, tank.min_fill_alert_percentage, tank.owner_id, alerts]);
  if (JSON.stringify(before?.readings ?? []) !== JSON.stringify(after.readings)) return true;
  return before !== undefined && settings(before) !== settings(after);
}
