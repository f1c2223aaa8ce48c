// Units of length and volume, and what arithmetic in binary does to decimal measures.

export const LENGTH_UNITS = ["mm", "cm", "m", "in", "ft"] as const;
export const VOLUME_UNITS = ["liters", "gallons", "m3"] as const;
export type LengthUnit = (typeof LENGTH_UNITS)[number];
export type VolumeUnit = (typeof VOLUME_UNITS)[number];

/** In tenths of a millimetre, and in nanolitres: whole numbers, so that a conversion rounds as little as can be. */
const LENGTH: Readonly<Record<LengthUnit, number>> = { mm: 10, cm: 100, m: 10_000, in: 254, ft: 3048 };
const VOLUME: Readonly<Record<VolumeUnit, number>> = { liters: 1e9, gallons: 3_785_411_784, m3: 1e12 };

export function inUnit(length: number, from: LengthUnit, to: LengthUnit): number {
  return from === to ? length : (length * LENGTH[from]) / LENGTH[to];
}

/** What part of the whole the volume is. The order of operations keeps the largest capacity from overflowing. */
export function fractionOf(volume: number, unit: VolumeUnit, whole: number, unitOfWhole: VolumeUnit): number {
  return (volume / whole) * (VOLUME[unit] / VOLUME[unitOfWhole]);
}

/**
 * A measure that is equal to its bound, but written in another unit, lands some 1e-16 beside it: 230 cm less 20 cm is not
 * quite 2.1 m. So much and no more (the sum of the roundings on the way, in relation to the largest measure involved) is
 * our arithmetic, not the sensor's word, and the measure is taken as the bound. This is no clamping: what lies farther out
 * stays outside.
 */
export function snapToBound(measure: number, bounds: readonly number[], largest: number): number {
  return bounds.find((bound) => Math.abs(measure - bound) <= 4 * Number.EPSILON * largest) ?? measure;
}

/** To the millionth of a percent: what is finer comes from the arithmetic, not from a tank. Adding 0 turns -0 into 0. */
export function percentOf(part: number): number {
  return Math.round(part * 100e6) / 1e6 + 0;
}
