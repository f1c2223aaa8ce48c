// The readings for people who write SQL, and for tools such as Grafana: a view, and a function for the readings of one tank in a
// range. They unpack heads and blocks (../packed/block.ts) in SQL alone, and verify no checksum: `check` does.
//
// Both are bound to the tables when they are created, so that nothing depends on the search path of whoever uses them. The
// function has the rights of its owner, as a view has: who uses them needs no right to the tables.

import { EARLIEST, LATEST } from "../../domain/instant.ts";

/** `bytes` little-endian bytes of `data` at a position, as an integer. */
function unsigned(at: string, bytes: number): string {
  const byte = (i: number): string => `get_byte(data, ${at}${i === 0 ? "" : ` + ${i}`})`;
  const shifted = (i: number): string => (i === 0 ? byte(i) : `(${byte(i)}${i < 3 ? "" : "::bigint"} << ${8 * i})`);
  return `(${Array.from({ length: bytes }, (_, i) => shifted(i)).join(" + ")})`;
}

/** The parts of a double at a position. */
const exponent = (at: string): string => `(${unsigned(`${at} + 6`, 2)} >> 4 & 2047)`;
const sign = (at: string): string => `CASE WHEN get_byte(data, ${at} + 7) < 128 THEN 1 ELSE -1 END`;
const fraction = (at: string): string => `(${unsigned(at, 6)} + ((get_byte(data, ${at} + 6) & 15)::bigint << 48))`;
const ONE = "4503599627370496"; // 2^52

/** SQL that reads a whole number as a bigint: the bits of the fraction are shifted out. */
const wholeDouble = (at: string): string =>
  `(CASE WHEN ${exponent(at)} = 0 THEN 0 ELSE ${sign(at)} * (${fraction(at)} + ${ONE} >> 1075 - ${exponent(at)}) END)`;

/** Exactly: an integer × a power of two. The numbers next to 0 have an exponent of 0, and no bit in front of the fraction. */
const double = (at: string): string =>
  `(${sign(at)} * (CASE WHEN ${exponent(at)} = 0 THEN ${fraction(at)} ELSE ${fraction(at)} + ${ONE} END)::float8
    * power(2::float8, greatest(${exponent(at)}, 1) - 1075))`;

/** Milliseconds after 1970 as an exact time: a product of an interval is only exact where a double is. */
const time = (ms: string): string =>
  `(timestamptz 'epoch' + ${ms} / 3600000 * interval '1 hour' + ${ms} % 3600000 * interval '1 millisecond')`;

/**
 * The readings in the rows `packed`, which have `tank` and `data`. What is the same for all readings of a row is computed once:
 * a subquery with OFFSET is not merged into the one around it.
 */
const unpacked = (packed: string): string => `
  SELECT tank AS tank_id,
    CASE WHEN NOT is_rows AND NOT is_wide_instant THEN first + ${unsigned("instants_at + i * 4", 4)} * interval '1 millisecond'
      WHEN is_rows THEN ${time(unsigned("instants_at + i * row_bytes", 6))}
      ELSE ${time(wholeDouble("instants_at + i * 8"))} END AS created_at,
    CASE WHEN is_wide_fill THEN ${double("fills_at + i * fill_step")}
      ELSE ${unsigned("fills_at + i * fill_step", 2)} / 100::float8 END AS fill_percentage
  FROM (${packed}) AS packed
  CROSS JOIN LATERAL (
    SELECT get_byte(data, 0) & 2 <> 0 AS is_wide_instant, get_byte(data, 0) & 4 <> 0 AS is_wide_fill,
      get_byte(data, 0) & 8 <> 0 AS is_rows WHERE length(data) > 0 OFFSET 0
  ) AS layout
  CROSS JOIN LATERAL (
    SELECT CASE WHEN is_rows THEN 6 WHEN is_wide_instant THEN 8 ELSE 4 END AS instant_bytes,
      CASE WHEN is_wide_fill THEN 8 ELSE 2 END AS fill_bytes, CASE WHEN is_rows THEN 1 ELSE 9 END AS instants_at OFFSET 0
  ) AS sizes
  CROSS JOIN LATERAL (
    SELECT instant_bytes + fill_bytes AS row_bytes, (length(data) - instants_at) / (instant_bytes + fill_bytes) AS readings OFFSET 0
  ) AS rows
  CROSS JOIN LATERAL (
    SELECT CASE WHEN is_rows THEN 7 ELSE 9 + readings * instant_bytes END AS fills_at,
      CASE WHEN is_rows THEN row_bytes ELSE fill_bytes END AS fill_step,
      CASE WHEN NOT is_rows THEN ${time(wholeDouble("1"))} END AS first OFFSET 0
  ) AS positions
  CROSS JOIN LATERAL generate_series(0, readings - 1) AS i`;

/** SQL for a time in milliseconds; NULL for NULL and for an infinite time. */
const milliseconds = (time: string): string => `CASE WHEN isfinite(${time}) THEN extract(epoch FROM ${time}) * 1000 END`;

/** $1 tank, $2 and $3 the range. By primary keys: the block that begins at or before the range, and those that begin in it. */
const IN_RANGE = `
  SELECT tank, data FROM block WHERE tank = $1
    AND start >= coalesce((SELECT start FROM block WHERE tank = $1
      AND start <= floor(${milliseconds("$2")})::bigint ORDER BY start DESC LIMIT 1), ${EARLIEST})
    AND start < coalesce(ceil(${milliseconds("$3")})::bigint, ${LATEST})
  UNION ALL
  SELECT tank, data FROM head WHERE tank = $1`;

export const READINGS_SQL = `
  -- Every stored reading, also those of deleted tanks.
  CREATE VIEW readings AS ${unpacked("SELECT tank, data FROM block UNION ALL SELECT tank, data FROM head")};

  -- The readings of one tank, from one instant to another, exclusive; NULL: from the first, or to the last.
  CREATE FUNCTION readings_of(tank_id text, "from" timestamptz, "to" timestamptz) RETURNS SETOF readings
  LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
  BEGIN ATOMIC
    SELECT * FROM (${unpacked(IN_RANGE)}) AS reading
    WHERE ($2 IS NULL OR created_at >= $2) AND ($3 IS NULL OR created_at < $3);
  END;
  -- Everybody may execute a function by default.
  REVOKE ALL ON FUNCTION readings_of FROM PUBLIC;
`;
