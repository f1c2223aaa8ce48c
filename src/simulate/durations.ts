// Lengths of time, in the milliseconds that instants are counted in.

export const SECOND = 1000;
export const HOUR = 3600 * SECOND;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;
