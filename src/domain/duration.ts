// Spans of time as people write them: 90d, 24h, 30m, 45s.

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** In milliseconds, or undefined. */
export function parseDuration(text: string): number | undefined {
  const parts = /^(\d{1,6})([smhd])$/.exec(text);
  const unit = UNITS[parts?.[2] ?? ""];
  return parts === null || unit === undefined ? undefined : Number(parts[1]) * unit;
}
