// Levels of tanks, every six hours until now, as instants and percentages.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
type Levels = (readonly [instant: number, fill: number])[];

/** Four months: used at an even pace, with one refill. */
export const withOneRefill = (now: number): Levels =>
  Array.from({ length: 120 * 4 }, (_, index) => {
    const age = 120 - index / 4;
    const level = age > 60 ? 20 + (age - 60) : 30 + age;
    return [Math.floor(now - age * DAY + 2 * HOUR), Number(level.toFixed(1))];
  });

/** Two years: a refill every three days. */
export const withManyRefills = (now: number): Levels =>
  Array.from({ length: 730 * 4 }, (_, index) => [Math.floor(now - 730 * DAY + (index * DAY) / 4), 85 - (index % 12) * 5]);
