// Refills in a mail to an operator, in English: which tank, from what to what, the volume, and when.

import type { Refill } from "../forecast/refills.ts";
import type { Wording } from "./language.ts";
import { DIGEST_ABOVE, nameOf, type Section, type TankItem, tankEntry, type Values } from "./section.ts";

export type RefillItem = TankItem & { readonly refill: Refill };
/** `total` is how many there are, `items` the latest of them, at least `DIGEST_ABOVE` or all. */
export type RefillGroup = { readonly total: number; readonly items: readonly RefillItem[] };

export const NO_REFILLS: RefillGroup = { total: 0, items: [] };

/** The latest first. */
export function refillSection({ total, items }: RefillGroup, wording: Wording): Section {
  const { count, percent } = wording;
  const form = { audience: "operator", isDigest: total > DIGEST_ABOVE } as const;
  const listed = items.toSorted((a, b) => b.refill.endedAt - a.refill.endedAt).slice(0, DIGEST_ABOVE);
  const [first] = listed;
  return {
    total,
    subject: first ? `Tank refilled, ${percent(first.refill.to)}: ${nameOf(first.tank)}` : "",
    headline: total === 1 ? "1 refill" : `${count(total)} refills`,
    explanation: `${total === 1 ? "A delivery was" : "Deliveries were"} found in the readings: the fill has risen and stayed up. Nothing needs to be done.`,
    selection: form.isDigest ? `The ${count(listed.length)} latest:` : undefined,
    entries: listed.map((item) => tankEntry(item, item.refill.to, valuesOf(item, wording), form, wording)),
  };
}

function valuesOf({ refill, tank }: RefillItem, { phrases, percent, volume, time }: Wording): Values {
  const { from, to, startedAt, endedAt } = refill;
  return [
    [phrases.fill, `from ${percent(from)} to ${percent(to)}`],
    ["Volume", volume(tank.capacity * ((to - from) / 100), tank.capacity_unit)],
    ["Refilled", `between ${time(startedAt)} and ${time(endedAt)}`],
  ];
}
