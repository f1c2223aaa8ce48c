// What some fields of a tank may be, for forms: value and label of each.

export const UNITS = [
  ["liters", "Liters"],
  ["gallons", "Gallons"],
] as const;

export const USE_CASES = [
  ["", "Not stated"],
  ["residential", "Residential"],
  ["commercial", "Commercial"],
  ["industrial", "Industrial"],
] as const;
