// Alerts that follow from forecasts.

import assert from "node:assert/strict";
import test from "node:test";
import type { Alert } from "../../../src/domain/alerts/alert.ts";
import {
  type AlertSettings,
  CONDITION_BITS,
  closeReason,
  DEFAULT_ALERT_SETTINGS,
  type EvaluationInput,
  evaluate,
  ON_FORECAST,
} from "../../../src/domain/alerts/evaluate.ts";
import { type ForecastSummary, isProvisional } from "../../../src/domain/alerts/forecast-conditions.ts";

const DAY = 24 * 3_600_000;
const NOW = Date.parse("2026-11-14T09:30:00Z");
const LEAK = { since: NOW - 6 * DAY, excess: 1.5, isSudden: false };

const forecast = (days: number | null, fields: Partial<ForecastSummary> = {}): ForecastSummary => ({
  state: "ok",
  computedAt: NOW,
  runsLowAt: days === null ? null : NOW + days * DAY,
  leak: "none",
  ...fields,
});

const tank = (expected: ForecastSummary | null, fields: Partial<EvaluationInput> = {}): EvaluationInput => ({
  tankId: "t",
  isLive: true,
  threshold: 20,
  latest: { created_at: NOW, fill_percentage: 40 },
  activeConditions: 0,
  evaluateAt: null,
  silentAfter: null,
  pausedUntil: null,
  disabledKinds: [],
  forecast: expected,
  leakOpenedAt: null,
  medianInterval: undefined,
  ...fields,
});

function changes(condition: EvaluationInput, settings: Partial<AlertSettings> = {}, now = NOW): string[] {
  const { opened, cleared } = evaluate(condition, { ...DEFAULT_ALERT_SETTINGS, ...settings }, now, ON_FORECAST);
  return [...opened.map(({ kind }) => `+${kind}`), ...cleared.map(({ kind, reason }) => `-${kind} ${reason ?? ""}`.trimEnd())];
}

const SOON = { activeConditions: CONDITION_BITS.runs_low_soon };

test("a tank runs low soon from seven days on, or the days of the setting", () => {
  assert.deepEqual(changes(tank(forecast(7.01))), []);
  assert.deepEqual(changes(tank(forecast(7))), ["+runs_low_soon"]);
  assert.deepEqual(changes(tank(forecast(0))), ["+runs_low_soon"]);
  assert.deepEqual(changes(tank(forecast(3.5)), { runsLowDays: 3 }), []);
  assert.deepEqual(changes(tank(forecast(null))), []);
  assert.deepEqual(changes(tank(null)), []);
});

test("a forecast that wobbles around seven days makes one alert", () => {
  let activeConditions = 0;
  const seen = Array.from({ length: 100 }, (_, i) => 7 + ((i * 7) % 11) / 4).flatMap((days) => {
    const condition = tank(forecast(days), { activeConditions });
    ({ activeConditions } = evaluate(condition, DEFAULT_ALERT_SETTINGS, NOW, ON_FORECAST));
    return changes(condition);
  });
  assert.deepEqual(seen, ["+runs_low_soon"]);
  assert.deepEqual(changes(tank(forecast(9.75), SOON)), []);
  assert.deepEqual(changes(tank(forecast(9.76), SOON)), ["-runs_low_soon"]);
  assert.deepEqual(changes(tank(forecast(null), SOON)), ["-runs_low_soon"]);
  assert.deepEqual(changes(tank(forecast(null, { state: "no_use" }), SOON)), ["-runs_low_soon"]);
});

test("a forecast that says nothing, or not of the newest reading, changes nothing", () => {
  for (const state of ["insufficient_data", "stale"] as const) {
    const expected = forecast(null, { state, leak: null });
    assert.deepEqual(changes(tank(expected, { activeConditions: CONDITION_BITS.runs_low_soon | CONDITION_BITS.leak })), []);
    assert.deepEqual(changes(tank(expected)), []);
  }
  assert.deepEqual(changes(tank(null, { activeConditions: CONDITION_BITS.runs_low_soon | CONDITION_BITS.leak })), []);
});

test("a low tank does not run low soon: the low alert takes over", () => {
  const at = (fill: number, activeConditions: number) =>
    changes(tank(forecast(0), { activeConditions, latest: { created_at: NOW, fill_percentage: fill } }));
  assert.deepEqual(at(19, 0), ["+low"]);
  assert.deepEqual(at(19, CONDITION_BITS.runs_low_soon), ["+low", "-runs_low_soon became_low"]);
  assert.deepEqual(at(21, CONDITION_BITS.low), [], "it counts as low until it has recovered");
  assert.deepEqual(at(23, CONDITION_BITS.low), ["+runs_low_soon", "-low"]);
});

test("while the latest reading may be a delivery, nothing opens until the forecast knows", () => {
  const filled = { latest: { created_at: NOW, fill_percentage: 90 } };
  assert.deepEqual(changes(tank(forecast(3, { isRisen: true }), filled)), []);
  assert.deepEqual(changes(tank(forecast(3, { isRisen: true }), { ...filled, ...SOON })), []);
  assert.deepEqual(changes(tank(forecast(40), { ...filled, ...SOON })), ["-runs_low_soon"]);
});

test("after a sudden fall, nothing opens or closes until the forecast knows", () => {
  const fallen = { latest: { created_at: NOW, fill_percentage: 22 } };
  assert.deepEqual(changes(tank(forecast(null, { isFallen: true }), fallen)), []);
  assert.deepEqual(changes(tank(forecast(null, { isFallen: true }), { ...fallen, ...SOON })), []);
});

test("a silent tank that is expected to be low by now runs low soon, and people are notified of that and of its end", () => {
  const silent = { latest: { created_at: NOW - 30 * DAY, fill_percentage: 40 } };
  const shouldNotify = (condition: EvaluationInput): boolean[] => {
    const { opened, cleared } = evaluate(condition, DEFAULT_ALERT_SETTINGS, NOW, ON_FORECAST);
    return [...opened, ...cleared].map((change) => change.shouldNotify);
  };
  assert.deepEqual(changes(tank(forecast(0), silent)), ["+runs_low_soon"]);
  assert.deepEqual(shouldNotify(tank(forecast(0), silent)), [true]);
  assert.deepEqual(shouldNotify(tank(forecast(30), { ...silent, ...SOON })), [true]);
});

test("the first forecast of a reading that is over 8 days old opens nothing: newer ones may follow", () => {
  const first = { isProvisional: true };
  assert.deepEqual(changes(tank(forecast(0, first))), []);
  assert.deepEqual(changes(tank(forecast(0, first), SOON)), []);
  assert.deepEqual(changes(tank(forecast(30, first), SOON)), ["-runs_low_soon"]);
  assert.equal(isProvisional(null, NOW - 8 * DAY, NOW), false);
  assert.equal(isProvisional(null, NOW - 8 * DAY - 1, NOW), true);
  assert.equal(isProvisional(NOW - 9 * DAY, NOW - 8 * DAY - 1, NOW), true);
  assert.equal(isProvisional(NOW - 8 * DAY - 1, NOW - 8 * DAY - 1, NOW), false);
});

test("a leak opens an alert, which closes when use has been normal for some days", () => {
  assert.deepEqual(changes(tank(forecast(100, { leak: LEAK }))), ["+leak"]);
  assert.deepEqual(changes(tank(forecast(100, { leak: "ending" }), { activeConditions: CONDITION_BITS.leak })), []);
  assert.deepEqual(changes(tank(forecast(100, { leak: "none" }), { activeConditions: CONDITION_BITS.leak })), ["-leak"]);
  const low = { latest: { created_at: NOW, fill_percentage: 10 } };
  assert.deepEqual(changes(tank(forecast(0, { leak: LEAK }), low)), ["+low", "+leak"]);
});

test("a loss at once that began after the leak alert was opened has an alert of its own", () => {
  const THEFT = { since: NOW - DAY, excess: 30, isSudden: true };
  const active = { activeConditions: CONDITION_BITS.leak, leakOpenedAt: NOW - 2 * DAY };
  const theft = tank(forecast(100, { leak: THEFT }), active);
  assert.deepEqual(changes(theft), ["+leak", "-leak replaced"]);
  const { opened, cleared, activeConditions } = evaluate(theft, DEFAULT_ALERT_SETTINGS, NOW, ON_FORECAST);
  assert.ok([...opened, ...cleared].every(({ shouldNotify }) => shouldNotify));
  assert.equal(activeConditions, CONDITION_BITS.leak);
  assert.deepEqual(changes({ ...theft, leakOpenedAt: NOW - DAY }), [], "people know of it");
  assert.deepEqual(changes({ ...theft, pausedUntil: NOW + DAY }), []);
  assert.deepEqual(changes(tank(forecast(100, { leak: { ...THEFT, isSudden: false } }), active)), []);
});

test("both kinds can be off, for a tank or everywhere: what is open closes", () => {
  const both = forecast(3, { leak: LEAK });
  const activeConditions = CONDITION_BITS.runs_low_soon | CONDITION_BITS.leak;
  const off = { runsLowDays: 0, leakAlerts: false };
  const closed = ["-runs_low_soon turned_off", "-leak turned_off"];
  assert.deepEqual(changes(tank(both, { disabledKinds: ["leak", "runs_low_soon"] })), []);
  assert.deepEqual(changes(tank(both), off), []);
  assert.deepEqual(changes(tank(both, { activeConditions, disabledKinds: ["leak", "runs_low_soon"] })), closed);
  assert.deepEqual(changes(tank(null, { activeConditions }), off), closed);
  assert.deepEqual(changes(tank(both, { disabledKinds: ["leak"] })), ["+runs_low_soon"]);
});

test("a paused tank opens neither, and closes what is open", () => {
  const pausedUntil = NOW + DAY;
  assert.deepEqual(changes(tank(forecast(3, { leak: LEAK }), { pausedUntil })), []);
  assert.deepEqual(changes(tank(forecast(30), { pausedUntil, ...SOON })), ["-runs_low_soon"]);
  assert.deepEqual(changes(tank(forecast(3), { pausedUntil }), {}, pausedUntil), ["+runs_low_soon"]);
  const low = { pausedUntil, ...SOON, latest: { created_at: NOW, fill_percentage: 19 } };
  assert.deepEqual(changes(tank(forecast(0), low)), [], "the low alert that would take over does not open yet");
  assert.deepEqual(changes(tank(forecast(0), low), {}, pausedUntil), ["+low", "-runs_low_soon became_low"]);
});

test("a leak opens an alert in a tank that sends once a week, and not in an old history", () => {
  const changesAfter = (days: number, activeConditions = 0) =>
    changes(
      tank(forecast(100, { leak: LEAK }), { activeConditions, latest: { created_at: NOW - days * DAY, fill_percentage: 40 } }),
    );
  assert.deepEqual(changesAfter(8), ["+leak"]);
  assert.deepEqual(changesAfter(8.1), []);
  assert.deepEqual(changesAfter(8.1, CONDITION_BITS.leak), []);
});

test("a new forecast leaves silent alerts as they are, also after the clock was set back", () => {
  const activeConditions = CONDITION_BITS.silent;
  const { evaluateAt, ...silent } = evaluate(
    tank(forecast(30), { activeConditions }),
    DEFAULT_ALERT_SETTINGS,
    NOW - 5 * DAY,
    ON_FORECAST,
  );
  assert.deepEqual(silent, { opened: [], cleared: [], shouldNotifyLow: false, activeConditions });
  assert.deepEqual(evaluate(tank(forecast(30)), DEFAULT_ALERT_SETTINGS, NOW + 90 * DAY, ON_FORECAST).opened, []);
  assert.equal(evaluateAt, null);
});

test("an alert that only a lower threshold has cleared did not recover", () => {
  const alert = { kind: "runs_low_soon", threshold: 20, fill_percentage: 30 } as Alert;
  const reason = (threshold: number, fill: number, kind: Alert["kind"] = "runs_low_soon") =>
    closeReason({ ...alert, kind }, { threshold, fill, closeMargin: 3 }, ON_FORECAST);
  assert.equal(reason(10, 30), "threshold_changed");
  assert.equal(reason(10, 80), "recovered");
  assert.equal(reason(20, 29), "recovered");
  assert.equal(reason(10, 10, "leak"), "recovered");
});
