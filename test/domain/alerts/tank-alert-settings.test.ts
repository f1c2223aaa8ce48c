import assert from "node:assert/strict";
import test from "node:test";
import {
  DEFAULT_TANK_ALERT_SETTINGS,
  errorInTankAlertSettings,
  errorsInTankAlertSettings,
  mergeTankAlertSettings,
  tankAlertSettingsObject,
} from "../../../src/domain/alerts/tank-alert-settings.ts";
import { formatDuration, parseDuration } from "../../../src/domain/instant.ts";

const HOUR = 3_600_000;

test("a duration is shown as it is usually written", () => {
  for (const text of ["10m", "90m", "24h", "72h", "90d", "365d", "45s", "601s"]) {
    assert.equal(formatDuration(parseDuration(text) ?? 0), text);
  }
  assert.equal(formatDuration(3 * 24 * HOUR), "72h");
  assert.equal(formatDuration(0), "0s");
});

test("fields that are left out stay, null clears them", () => {
  const before = { silent_after: 5 * HOUR, paused_until: 7, runs_low_soon: true, leak: false };
  assert.deepEqual(mergeTankAlertSettings(before, {}), before);
  assert.deepEqual(mergeTankAlertSettings(before, { silent_after: null }), { ...before, silent_after: null });
  assert.deepEqual(mergeTankAlertSettings(before, { leak: true, runs_low_soon: false }), {
    ...before,
    leak: true,
    runs_low_soon: false,
  });
  const given = { silent_after: "72h", paused_until: "2026-12-01T00:00:00Z" };
  const kinds = { runs_low_soon: true, leak: true };
  const after = { silent_after: 72 * HOUR, paused_until: Date.parse("2026-12-01"), ...kinds };
  assert.deepEqual(mergeTankAlertSettings(DEFAULT_TANK_ALERT_SETTINGS, given), after);
  assert.deepEqual(tankAlertSettingsObject(after), { silent_after: "72h", paused_until: "2026-12-01T00:00:00.000Z", ...kinds });
  assert.deepEqual(tankAlertSettingsObject(DEFAULT_TANK_ALERT_SETTINGS), { silent_after: null, paused_until: null, ...kinds });
});

test("every wrong field is named", () => {
  const cases: readonly (readonly [unknown, ...string[]])[] = [
    [null, "alerts"],
    ["72h", "alerts"],
    [[], "alerts"],
    [{ silent_after: 72 }, "alerts.silent_after"],
    [{ silent_after: "72" }, "alerts.silent_after"],
    [{ silent_after: "9m" }, "alerts.silent_after"],
    [{ silent_after: "366d" }, "alerts.silent_after"],
    [{ silent_after: "PT1H" }, "alerts.silent_after"],
    [{ paused_until: "tomorrow" }, "alerts.paused_until"],
    [{ paused_until: 5 }, "alerts.paused_until"],
    [{ silence: "72h" }, "alerts.silence"],
    [{ leak: null, runs_low_soon: "off" }, "alerts.runs_low_soon", "alerts.leak"],
    [{ silent_after: "", paused_until: "" }, "alerts.silent_after", "alerts.paused_until"],
  ];
  for (const [value, ...fields] of cases) {
    assert.deepEqual(
      errorsInTankAlertSettings(value).map(({ field }) => field),
      fields,
      JSON.stringify(value),
    );
  }
  for (const value of [{}, { silent_after: "10m" }, { silent_after: "365d" }, { silent_after: null, paused_until: null }]) {
    assert.deepEqual(errorsInTankAlertSettings(value), []);
  }
});

test("stored settings that nobody can have set are found", () => {
  assert.equal(errorInTankAlertSettings(DEFAULT_TANK_ALERT_SETTINGS), undefined);
  assert.equal(
    errorInTankAlertSettings({ ...DEFAULT_TANK_ALERT_SETTINGS, silent_after: 10 * 60_000, paused_until: 0 }),
    undefined,
  );
  assert.match(errorInTankAlertSettings({ ...DEFAULT_TANK_ALERT_SETTINGS, silent_after: 5 }) ?? "", /alerts\.silent_after/);
  assert.match(errorInTankAlertSettings({ ...DEFAULT_TANK_ALERT_SETTINGS, paused_until: 1e300 }) ?? "", /alerts\.paused_until/);
});
