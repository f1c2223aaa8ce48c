import assert from "node:assert/strict";
import test from "node:test";
import type { Alert } from "../../../src/domain/alerts/alert.ts";
import {
  bothTriggers,
  CONDITION_BITS,
  closeReason,
  DEFAULT_ALERT_SETTINGS,
  type Evaluation,
  type EvaluationInput,
  type EvaluationTrigger,
  evaluate,
  LOW_UNNOTIFIED_BIT,
  medianInterval,
  ON_READING,
  ON_SETTINGS,
} from "../../../src/domain/alerts/evaluate.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.parse("2026-11-14T09:30:00Z");

const tank = (fill: number, fields: Partial<EvaluationInput> = {}): EvaluationInput => ({
  tankId: "t",
  isLive: true,
  threshold: 20,
  latest: { created_at: NOW, fill_percentage: fill },
  activeConditions: 0,
  evaluateAt: null,
  silentAfter: null,
  pausedUntil: null,
  disabledKinds: [],
  forecast: null,
  leakOpenedAt: null,
  medianInterval: undefined,
  ...fields,
});
const commit = (condition: EvaluationInput, now = NOW) => evaluate(condition, DEFAULT_ALERT_SETTINGS, now, ON_READING);
const sweep = (condition: EvaluationInput, now: number, downtimeEndedAt = 0) =>
  evaluate(condition, DEFAULT_ALERT_SETTINGS, now, { cause: "sweep", downtimeEndedAt });
const changes = ({ opened, cleared }: Evaluation): string[] => [
  ...opened.map(({ kind }) => `+${kind}`),
  ...cleared.map(({ kind }) => `-${kind}`),
];

/** What each fill does to a tank, one after the other. */
function changesOf(threshold: number, fills: readonly number[], closeMargin = 3): string[] {
  let activeConditions = 0;
  return fills.flatMap((fill) => {
    const evaluation = evaluate(
      tank(fill, { threshold, activeConditions }),
      { ...DEFAULT_ALERT_SETTINGS, closeMargin },
      NOW,
      ON_READING,
    );
    activeConditions = evaluation.activeConditions;
    return changes(evaluation).map((change) => `${change} at ${fill}`);
  });
}

test("a tank is low at or below its threshold, and not above it", () => {
  assert.deepEqual(changes(commit(tank(20))), ["+low"]);
  assert.deepEqual(changes(commit(tank(20.5))), []);
  assert.deepEqual(changes(commit(tank(20.000001))), []);
  assert.deepEqual(changes(commit(tank(0))), ["+low"]);
});

test("a tank that hovers around its threshold makes one alert", () => {
  const fills = Array.from({ length: 100 }, (_, i) => 20 + (i % 7) * 0.45 - 0.1);
  assert.deepEqual(changesOf(20, fills), ["+low at 19.9"]);
  assert.deepEqual(changesOf(20, [19, 22.9, 20, 23, 20]), ["+low at 19", "-low at 23", "+low at 20"]);
});

test("a threshold of 0 is low when empty, and one of 100 never recovers", () => {
  assert.deepEqual(changesOf(0, [0.5, 0, 2.9, 3]), ["+low at 0", "-low at 3"]);
  assert.deepEqual(changesOf(100, [100, 99, 100]), ["+low at 100"]);
  assert.deepEqual(changesOf(98, [98, 99.9, 100]), ["+low at 98", "-low at 100"]);
  assert.deepEqual(changesOf(99, [99, 100], 0.5), ["+low at 99", "-low at 100"]);
});

test("a paused tank opens nothing, but closes what is open", () => {
  const pausedUntil = NOW + HOUR;
  assert.deepEqual(changes(commit(tank(10, { pausedUntil }))), []);
  assert.equal(commit(tank(10, { pausedUntil })).evaluateAt, pausedUntil);
  assert.deepEqual(changes(commit(tank(90, { pausedUntil, activeConditions: CONDITION_BITS.low }))), ["-low"]);
  assert.deepEqual(changes(sweep(tank(10, { pausedUntil }), NOW + HOUR)), ["+low"]);
  const old = { created_at: NOW - 30 * DAY, fill_percentage: 50 };
  const paused = sweep(tank(50, { pausedUntil, latest: old }), NOW);
  assert.deepEqual([changes(paused), paused.evaluateAt], [[], pausedUntil]);
});

test("what was closed manually stays closed until the condition has cleared once", () => {
  // The bit is what is left of it.
  assert.deepEqual(changesOf(20, [19, 10, 22, 5]), ["+low at 19"]);
});

test("a tank is silent after the longest of its setting and three usual intervals, in the sweep only", () => {
  const silentAfter = (fields: Partial<EvaluationInput>): number => {
    const { evaluateAt } = sweep(tank(50, fields), NOW);
    assert.deepEqual(changes(sweep(tank(50, fields), Number(evaluateAt) - 1)), []);
    assert.deepEqual(changes(sweep(tank(50, fields), Number(evaluateAt))), ["+silent"]);
    assert.deepEqual(changes(commit(tank(50, fields), Number(evaluateAt))), []);
    return (Number(evaluateAt) - NOW) / HOUR;
  };
  assert.equal(silentAfter({}), 48);
  assert.equal(silentAfter({ silentAfter: HOUR }), 1);
  assert.equal(silentAfter({ silentAfter: HOUR, medianInterval: DAY }), 72);
  assert.equal(silentAfter({ medianInterval: HOUR }), 48);
});

test("silence ends with a younger reading, or a longer limit, and not because a clock is set back", () => {
  const activeConditions = CONDITION_BITS.silent;
  assert.deepEqual(changes(commit(tank(50, { activeConditions }), NOW + HOUR)), ["-silent"]);
  assert.deepEqual(changes(commit(tank(50, { activeConditions }), NOW + 49 * HOUR)), []);
  assert.deepEqual(changes(commit(tank(50, { activeConditions, silentAfter: 99 * HOUR }), NOW + 49 * HOUR)), ["-silent"]);
  assert.deepEqual(changes(sweep(tank(50, { activeConditions }), NOW + HOUR)), []);
});

test("silence counts from the end of a downtime or a clock jump", () => {
  const back = NOW + 40 * DAY;
  const atStart = sweep(tank(50), back, back);
  assert.deepEqual([changes(atStart), atStart.evaluateAt], [[], back + 48 * HOUR]);
  assert.deepEqual(changes(sweep(tank(50), back + 48 * HOUR, back)), ["+silent"]);
});

test("after a downtime a tank has three usual intervals to send, an hour at least: one every night hides no silence", () => {
  const back = NOW + 40 * DAY;
  const silentAfter = (medianInterval: number, downtimeEndedAt = back, silentAfter: number | null = null): number =>
    Number(sweep(tank(50, { medianInterval, silentAfter }), downtimeEndedAt, downtimeEndedAt).evaluateAt) - downtimeEndedAt;
  assert.equal(silentAfter(4 * HOUR), 12 * HOUR);
  assert.equal(silentAfter(60_000), HOUR);
  assert.equal(silentAfter(60_000, back, HOUR / 2), HOUR / 2);
  assert.equal(silentAfter(DAY), 72 * HOUR);
  assert.equal(silentAfter(HOUR, NOW + DAY), 24 * HOUR, "not sooner than without a downtime");
});

test("a check that comes earlier than needed is kept, a later one is not", () => {
  assert.equal(commit(tank(50, { evaluateAt: NOW + HOUR })).evaluateAt, NOW + HOUR);
  assert.equal(commit(tank(50, { evaluateAt: NOW + 90 * HOUR })).evaluateAt, NOW + 48 * HOUR);
  assert.equal(commit(tank(50, { evaluateAt: NOW - HOUR })).evaluateAt, NOW + 48 * HOUR);
  assert.equal(commit(tank(50, { activeConditions: CONDITION_BITS.silent }), NOW + 49 * HOUR).evaluateAt, null);
});

test("nobody is notified of an alert that should have opened over a day ago", () => {
  const news = ({ opened, cleared }: Evaluation) => [...opened, ...cleared].map(({ shouldNotify }) => shouldNotify);
  assert.deepEqual(news(commit(tank(10), NOW + DAY)), [true]);
  assert.deepEqual(news(commit(tank(10), NOW + DAY + 1)), [false]);
  // Those notified that it is low are notified that it is not.
  assert.deepEqual(news(commit(tank(90, { activeConditions: CONDITION_BITS.low }), NOW + DAY + 1)), [true]);
  assert.deepEqual(news(commit(tank(90, { activeConditions: CONDITION_BITS.low | LOW_UNNOTIFIED_BIT }), NOW)), [false]);
  // A device that was silent may begin with what it has stored.
  assert.deepEqual(news(commit(tank(50, { activeConditions: CONDITION_BITS.silent }), NOW + 40 * HOUR)), [true]);
  assert.deepEqual(news(sweep(tank(50), NOW + 48 * HOUR + DAY)), [true]);
  assert.deepEqual(news(sweep(tank(50), NOW + 48 * HOUR + DAY + 1)), [false]);
  const pausedUntil = NOW + 30 * DAY;
  assert.deepEqual(news(sweep(tank(50, { pausedUntil }), pausedUntil + DAY)), [true], "the end of a pause is news");
});

test("people are notified of a tank that a setting makes silent, and not of one that an old reading does", () => {
  const silent = { latest: { created_at: NOW - 30 * DAY, fill_percentage: 50 } };
  const isNotified = (evaluateAt: number | null): boolean[] =>
    sweep(tank(50, { ...silent, evaluateAt }), NOW + 60_000).opened.map(({ shouldNotify }) => shouldNotify);
  const resumed = evaluate(tank(50, { ...silent, evaluateAt: NOW + DAY }), DEFAULT_ALERT_SETTINGS, NOW, ON_SETTINGS);
  assert.deepEqual([resumed.evaluateAt, isNotified(resumed.evaluateAt)], [NOW, [true]]);
  const measured = commit(tank(50, { ...silent, evaluateAt: NOW }), NOW + 1000);
  assert.deepEqual(isNotified(measured.evaluateAt), [true], "also if another old reading follows");
  const imported = commit(tank(50, { ...silent, evaluateAt: NOW - 90 * DAY }));
  assert.deepEqual([imported.evaluateAt, isNotified(imported.evaluateAt)], [NOW - 28 * DAY, [false]]);
});

test("people are notified of a tank that was low by an old reading once a recent one confirms it", () => {
  const old = commit(tank(10), NOW + 30 * HOUR);
  assert.deepEqual([old.shouldNotifyLow, old.activeConditions], [false, CONDITION_BITS.low | LOW_UNNOTIFIED_BIT]);
  const { activeConditions } = old;
  const still = commit(tank(9, { activeConditions }), NOW + 30 * HOUR);
  assert.deepEqual([still.shouldNotifyLow, still.activeConditions], [false, activeConditions]);
  assert.equal(commit(tank(9, { activeConditions, pausedUntil: NOW + DAY })).shouldNotifyLow, false);
  const confirmed = commit(tank(9, { activeConditions }));
  assert.deepEqual([changes(confirmed), confirmed.shouldNotifyLow, confirmed.activeConditions], [[], true, CONDITION_BITS.low]);
  assert.equal(commit(tank(9, { activeConditions: CONDITION_BITS.low })).shouldNotifyLow, false);
  const between = commit(tank(22, { activeConditions }));
  assert.deepEqual([changes(between), between.shouldNotifyLow, between.activeConditions], [[], false, activeConditions]);
});

test("a deleted tank, and one without readings, have no conditions", () => {
  const nothing = { opened: [], cleared: [], shouldNotifyLow: false, activeConditions: 0, evaluateAt: null };
  assert.deepEqual(commit(tank(5, { isLive: false, activeConditions: 3, evaluateAt: NOW })), nothing);
  assert.deepEqual(commit(tank(5, { latest: undefined })), nothing);
});

test("an alert that only another threshold or setting has cleared did not recover", () => {
  const alert = { kind: "low", threshold: 20 } as Alert;
  const reason = (fill: number, trigger: EvaluationTrigger, kind: Alert["kind"] = "low") =>
    closeReason({ ...alert, kind }, { threshold: 15, fill, closeMargin: 3 }, trigger);
  assert.equal(reason(23, ON_READING), "recovered");
  assert.equal(reason(22, ON_READING), "threshold_changed");
  assert.equal(reason(22, ON_SETTINGS), "threshold_changed");
  assert.equal(reason(5, ON_READING, "silent"), "recovered");
  assert.equal(reason(5, ON_SETTINGS, "silent"), "setting_changed");
  assert.equal(reason(23, ON_SETTINGS), "setting_changed");
  // A reading of the same transaction may have cleared it.
  assert.equal(reason(23, bothTriggers(ON_SETTINGS, ON_READING)), "recovered");
  assert.equal(reason(23, bothTriggers(ON_READING, ON_SETTINGS)), "recovered");
});

test("the median of intervals", () => {
  assert.equal(medianInterval([]), undefined);
  assert.equal(medianInterval([5]), undefined);
  assert.equal(medianInterval([5, 8]), 3);
  assert.equal(medianInterval([0, 1, 3, 103]), 2);
  assert.equal(medianInterval([0, 10, 11, 12, 112]), 10);
});
