// Datetimes for property tests, and what they mean according to Temporal.

import fc from "fast-check";
import type { parseInstant } from "../../src/domain/instant.ts";

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");
const FORM = /^(\d{4}-\d\d-\d\d)(?:[tT](\d\d:\d\d:[0-5]\d)(?:\.(\d+))?(?:[zZ]|([+\- ])([01]\d|2[0-3]):([0-5]\d))?)?$/;

/** Reads a datetime with Temporal. */
export function expectedInstant(text: string): ReturnType<typeof parseInstant> {
  const [, date, time = "00:00:00", fraction = "", sign, hours = "0", minutes = "0"] = FORM.exec(text) ?? [];
  try {
    const local = Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime("UTC").epochMilliseconds;
    const offset = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
    const instant = local + Number(fraction.padEnd(3, "0").slice(0, 3)) - offset;
    return instant < FIRST || instant > LAST ? undefined : { instant, wasRounded: /[1-9]/.test(fraction.slice(3)) };
  } catch {
    return undefined;
  }
}

const padded = (max: number, width = 2) => fc.nat({ max }).map((value) => String(value).padStart(width, "0"));
/** Mostly within the first bound, sometimes beyond it. */
const mostly = (max: number, beyond: number) =>
  fc.oneof({ weight: 12, arbitrary: padded(max) }, { weight: 1, arbitrary: padded(beyond) });
const date = fc
  .tuple(
    fc.oneof(padded(9999, 4), fc.constantFrom("0000", "1900", "1970", "2000", "2024", "9999")),
    mostly(12, 99),
    mostly(29, 33),
  )
  .map((parts) => parts.join("-"));
const time = fc.tuple(mostly(23, 25), mostly(59, 61), mostly(59, 61)).map((parts) => parts.join(":"));
const fraction = fc.oneof(fc.constant(""), fc.stringMatching(/^\.[0-9]{1,12}$/), fc.stringMatching(/^\.[0-9]{0,5}0{0,9}$/));
const offset = fc.oneof(
  fc.constantFrom("Z", "z", "", "+00:00", "-00:00"),
  fc.tuple(fc.constantFrom("+", "-", " "), mostly(23, 30), mostly(59, 70)).map(([sign, h, m]) => `${sign}${h}:${m}`),
);
/** Texts that look like datetimes: most are, some name a day or a time that does not exist. */
export const dateTimes = fc.oneof(
  { weight: 1, arbitrary: date },
  {
    weight: 9,
    arbitrary: fc.tuple(date, fc.constantFrom("T", "t"), time, fraction, offset).map((parts) => parts.join("")),
  },
);
