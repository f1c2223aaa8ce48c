// What a mail says of one group of tanks, and a tank as an entry of it: alerts and refills have this in common.

import type { Customer } from "../customer.ts";
import type { Location, Tank } from "../tank.ts";
import type { Wording } from "./language.ts";
import { type Entry, type MailBlock, plain } from "./layout.ts";

/** If there are more alerts of a kind, or more refills, only this number of them is listed, in short. */
export const DIGEST_ABOVE = 20;

export type Section = {
  /** How many there are; `entries` are those that are listed. */
  readonly total: number;
  /** The subject of a mail with this section and one entry only. */
  readonly subject: string;
  readonly headline: string;
  /** What it means, and what to do. */
  readonly explanation: string | undefined;
  /** Says which are listed; undefined if all or none are. */
  readonly selection: string | undefined;
  readonly entries: readonly Entry[];
};

export function sectionBlocks(section: Section, isOneOfSeveral: boolean, { phrases, count }: Wording): MailBlock[] {
  const { total, headline, explanation, selection, entries } = section;
  const blocks: MailBlock[] = isOneOfSeveral ? [{ type: "heading", text: headline }] : [];
  if (explanation !== undefined) blocks.push({ type: "paragraph", text: explanation });
  if (selection !== undefined) blocks.push({ type: "paragraph", text: selection });
  blocks.push(...entries);
  const left = total - entries.length;
  const notListed = entries.length === 0 ? phrases.notListed : phrases.more(left, count(left));
  if (left > 0) blocks.push({ type: "paragraph", text: notListed });
  return blocks;
}

/** `customer` owns the tank; `link` is the page of the tank; null without PUBLIC_URL, or if it is deleted. */
export type TankItem = { readonly tank: Tank; readonly customer: Customer; readonly link: string | null };

export type Form = { readonly audience: "customer" | "operator"; readonly isDigest: boolean };
/** With their labels. What is null or empty is left out. */
export type Values = readonly (readonly [label: string, value: string | null])[];

export function tankEntry(
  { tank, customer, link }: TankItem,
  fill: number | undefined,
  values: Values,
  { audience, isDigest }: Form,
  { phrases }: Wording,
): Entry {
  const all: Values = [
    [phrases.where, addressLine(tank.location)],
    [phrases.reference, isDigest ? null : tank.custom_id],
    ...values,
    ...(audience === "operator" ? ownerValues(tank, customer) : []),
  ];
  return {
    type: "entry",
    title: nameOf(tank),
    ...(fill === undefined ? {} : { fill }),
    values: all.flatMap(([label, value]) => {
      const shown = value === null ? "" : plain(value, VALUE_MAX_LENGTH);
      return shown === "" ? [] : [[label, shown] as const];
    }),
    ...(link === null ? {} : { link: { text: phrases.openTank, url: link } }),
  };
}

const VALUE_MAX_LENGTH = 300;

const ownerValues = ({ id }: Tank, { name, phone }: Customer): Values => [
  ["Customer", name],
  ["Phone", phone],
  ["Tank ID", id],
];

/** A name may consist of invisible characters. */
export const nameOf = ({ id, name }: Tank): string => plain(name) || plain(id);

/** Coordinates where there is nothing else. */
function addressLine(location: Location): string | null {
  const { street, street_number, postal_code, city, district, region, country, latitude, longitude } = location;
  const joined = (parts: readonly (string | null)[], separator: string): string =>
    parts
      .map((part) => plain(part ?? ""))
      .filter((part) => part !== "")
      .join(separator);
  const line = joined([joined([street, street_number], " "), district, joined([postal_code, city], " "), region, country], ", ");
  if (line !== "") return line;
  return latitude === null || longitude === null ? null : `${latitude}, ${longitude}`;
}
