// Units of length and volume, and the rounding errors of converting them.

export const LENGTH_UNITS = ["mm", "cm", "m", "in", "ft"] as const;
export const VOLUME_UNITS = ["liters", "gallons", "m3"] as const;
export type LengthUnit = (typeof LENGTH_UNITS)[number];
export type VolumeUnit = (typeof VOLUME_UNITS)[number];

/** In tenths of a millimetre, and in nanolitres: whole numbers, for the smallest rounding errors. */
const LENGTH: Readonly<Record<LengthUnit, number>> = { mm: 10, cm: 100, m: 10_000, in: 254, ft: 3048 };
const VOLUME: Readonly<Record<VolumeUnit, number>> = { liters: 1e9, gallons: 3_785_411_784, m3: 1e12 };

export function inUnit(length: number, from: LengthUnit, to: LengthUnit): number {
  return from === to ? length : (length * LENGTH[from]) / LENGTH[to];
}

/** `volume` as a fraction of `whole`. The order of operations avoids an overflow with the largest capacity. */
export function fractionOf(volume: number, unit: VolumeUnit, whole: number, unitOfWhole: VolumeUnit): number {
  return (volume / whole) * (VOLUME[unit] / VOLUME[unitOfWhole]);
}

/**
 * A value equal to its bound but written in another unit can differ by some 1e-16: 230 cm - 20 cm is not quite 2.1 m. Such a
 * rounding error, relative to the largest value involved, counts as the bound. Values farther outside are returned unchanged.
 */
export function snapToBound(value: number, bounds: readonly number[], largest: number): number {
  return bounds.find((bound) => Math.abs(value - bound) <= 4 * Number.EPSILON * largest) ?? value;
}

/** Rounded to a millionth of a percent; finer digits are rounding errors. Adding 0 turns -0 into 0. */
export function percentOf(fraction: number): number {
  return Math.round(fraction * 100e6) / 1e6 + 0;
}
