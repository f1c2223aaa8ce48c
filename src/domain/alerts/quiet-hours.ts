// Quiet hours of an e-mail channel: local times of day between which mail is held.

import type { Instant } from "../instant.ts";
import type { QuietHours } from "./channel.ts";

/** When the quiet hours end that `now` is in; undefined where it is in none. */
export function quietUntil({ from, to, timezone }: QuietHours, now: Instant): Instant | undefined {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone);
  const [start, end] = [Temporal.PlainTime.from(from), Temporal.PlainTime.from(to)];
  const time = local.toPlainTime();
  const isAfterStart = Temporal.PlainTime.compare(time, start) >= 0;
  const isBeforeEnd = Temporal.PlainTime.compare(time, end) < 0;
  const order = Temporal.PlainTime.compare(start, end);
  const isOvernight = order > 0;
  if (order === 0 || !(isOvernight ? isAfterStart || isBeforeEnd : isAfterStart && isBeforeEnd)) return undefined;
  const day = local.toPlainDate().add({ days: isOvernight && isAfterStart ? 1 : 0 });
  const endsAt = (disambiguation: "compatible" | "later"): Instant =>
    day.toPlainDateTime(end).toZonedDateTime(timezone, { disambiguation }).epochMilliseconds;
  // When clocks go back, the local time of the end may come twice.
  const first = endsAt("compatible");
  return first > now ? first : endsAt("later");
}
