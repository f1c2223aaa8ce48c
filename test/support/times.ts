/** An array of what `make` returns for 0, 1 and so on. */
export const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
