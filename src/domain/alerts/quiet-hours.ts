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
  const endsAt = (disambiguation: "earlier" | "later") => day.toPlainDateTime(end).toZonedDateTime(timezone, { disambiguation });
  const first = endsAt("earlier");
  // Clocks that go forward may skip the end: the quiet hours end when they do.
  if (!first.toPlainTime().equals(end)) return first.getTimeZoneTransition("next")?.epochMilliseconds;
  // Clocks that go back may come to the end twice.
  return first.epochMilliseconds > now ? first.epochMilliseconds : endsAt("later").epochMilliseconds;
}
