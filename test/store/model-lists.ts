// Filters, orders and pages of the model: arrays that are filtered, sorted and cut for each query.

import type { AuditEntry } from "../../src/domain/audit.ts";
import type { CustomerState, TankState } from "../../src/domain/changes.ts";
import type { Customer } from "../../src/domain/customer.ts";
import { type FleetEntry, type FleetQuery, marginOf } from "../../src/domain/fleet.ts";
import type { Area } from "../../src/domain/fleet-map.ts";
import { deviceKey } from "../../src/domain/id.ts";
import type { Instant } from "../../src/domain/instant.ts";
import type { AuditQuery, CustomerSearch, DeviceSearch, TankSearch } from "../../src/domain/management-reads.ts";
import type { Page, PageQuery } from "../../src/domain/page.ts";
import type { ManagedDevice } from "../../src/domain/resource.ts";
import { mayHaveUmlauts, phoneDigits, searchWords, spellings, withoutUmlauts } from "../../src/domain/search.ts";
import type { Location, Tank } from "../../src/domain/tank.ts";
import { asciiLowerCase } from "../../src/domain/text.ts";

export function found<T>(ids: readonly string[], find: (id: string) => T | undefined): Map<string, T> {
  return new Map(ids.map((id) => [id, find(id)] as const).filter((pair): pair is [string, T] => pair[1] !== undefined));
}

export function cached<T>(values: Map<string, T>, name: string, make: () => T): T {
  const known = values.get(name) ?? make();
  values.set(name, known);
  return known;
}

/** As a value comes back that is stored as JSON. */
export const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** As latin1 the bytes of an id are letters, which compare as the bytes do. */
const bytesOf = (id: string): string => Buffer.from(id).toString("latin1");

type Listed = { readonly id: string; readonly created_at: Instant };

/** By instant, then by the bytes of the id, descending. */
export function newestFirst<T extends Listed>(objects: readonly T[]): T[] {
  const named = objects.map((object) => ({ object, bytes: bytesOf(object.id) }));
  named.sort((a, b) => b.object.created_at - a.object.created_at || (a.bytes < b.bytes ? 1 : -1));
  return named.map(({ object }) => object);
}

/** Of entries that are newest first. */
export function pageOf<T extends { readonly created_at: Instant }>(entries: readonly T[], query: PageQuery): Page<T> {
  const { from, to, page, size } = query;
  const isWithin = ({ created_at: at }: T): boolean => (from === undefined || at >= from) && (to === undefined || at <= to);
  const within = from === undefined && to === undefined ? entries : entries.filter(isWithin);
  return { data: within.slice((page - 1) * size, page * size), totalItems: within.length };
}

const lowercaseAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** In either case of A to Z; other letters as they are. */
function startsWith(text: string | null, prefix: string | undefined): boolean {
  return prefix === undefined || (text !== null && lowercaseAscii(text).startsWith(lowercaseAscii(prefix)));
}

const cutPage = <T>(matching: readonly T[], { page, size }: Pick<PageQuery, "page" | "size">): Page<T> => ({
  data: matching.slice((page - 1) * size, page * size),
  totalItems: matching.length,
});

export function matchingCustomers(states: readonly CustomerState[], search: CustomerSearch): Page<Customer> {
  const matching = states.filter(
    ({ customer, deleted }) =>
      deleted === search.deleted &&
      startsWith(customer.name, search.name) &&
      startsWith(customer.email, search.email) &&
      searchWords(search.search).every((word) => isWordOfCustomer(customer, word)),
  );
  return pageOf(newestFirst(matching.map(({ customer }) => customer)), search);
}

export function matchingTanks(states: readonly TankState[], search: TankSearch): Page<Tank> {
  const { device_id, owner_id } = search;
  const matching = states.filter(
    ({ tank, deleted }) =>
      deleted === search.deleted &&
      startsWith(tank.name, search.name) &&
      startsWith(tank.location.city, search.city) &&
      startsWith(tank.custom_id, search.custom_id) &&
      (owner_id === undefined || tank.owner_id === owner_id) &&
      (device_id === undefined || deviceKey(tank.assigned_device_id) === deviceKey(device_id)),
  );
  return pageOf(newestFirst(matching.map(({ tank }) => tank)), search);
}

export function matchingDevices(devices: readonly ManagedDevice[], search: DeviceSearch): Page<ManagedDevice> {
  const matching = devices
    .filter(({ pending }) => search.pending === undefined || search.pending === pending > 0)
    .map((managed) => ({ managed, bytes: bytesOf(managed.device.id) }))
    .sort((a, b) => (a.bytes < b.bytes ? -1 : 1));
  return cutPage(
    matching.map(({ managed }) => managed),
    search,
  );
}

/** To a billionth of a percentage point; above the threshold never 0. */
function shownMargin(entry: FleetEntry): number {
  const margin = marginOf(entry) ?? Number.POSITIVE_INFINITY;
  return margin > 0 ? Math.max(1, Math.round(margin * 1e9)) : Math.round(margin * 1e9);
}

function isWordOfEntry({ tank, customer }: FleetEntry, word: string): boolean {
  const { id, name, custom_id, assigned_device_id } = tank;
  const { street, street_number, postal_code, city, district } = tank.location;
  const address = [street, street_number, postal_code, city, district];
  return hasWord([id, name, custom_id, assigned_device_id, ...address, customer.name, customer.phone], customer.phone, word);
}

const isWordOfCustomer = ({ id, name, email, phone }: Customer, word: string): boolean =>
  hasWord([id, name, email, phone], phone, word);

function hasWord(texts: readonly (string | null)[], phone: string | null, word: string): boolean {
  const digits = phoneDigits(word);
  const hasPhone = digits !== undefined && (phone ?? "").replaceAll(/\(0\)|[^0-9]/g, "").includes(digits);
  const compared = (text: string) => (mayHaveUmlauts(word) ? withoutUmlauts(asciiLowerCase(text)) : asciiLowerCase(text));
  return hasPhone || spellings(withoutUmlauts(word)).some((one) => texts.some((text) => compared(text ?? "").includes(one)));
}

function isIn(area: Area, { latitude, longitude }: Location): boolean {
  if (latitude === null || longitude === null) return area === "none";
  if (area === "none") return false;
  const { west, south, east, north } = area;
  const isBetween = west <= east ? longitude >= west && longitude <= east : longitude >= west || longitude <= east;
  return isBetween && latitude >= south && latitude <= north;
}

export function matchingFleet(entries: readonly FleetEntry[], query: FleetQuery): Page<FleetEntry> {
  const { sort, state, silentSince, owner_id, city, area, search } = query;
  const rankOf = (entry: FleetEntry): number =>
    sort === "silent" ? (entry.latest?.created_at ?? Number.NEGATIVE_INFINITY) : shownMargin(entry);
  const stateOf = (margin: number | null) => (margin === null ? "unknown" : margin <= 0 ? "low" : "ok");
  const matching = entries
    .filter((entry) => state === undefined || stateOf(marginOf(entry)) === state)
    .filter(({ latest }) => silentSince === undefined || latest === null || latest.created_at < silentSince)
    .filter(({ tank }) => owner_id === undefined || tank.owner_id === owner_id)
    .filter(({ tank }) => startsWith(tank.location.city, city))
    .filter((entry) => searchWords(search).every((word) => isWordOfEntry(entry, word)))
    .filter(({ tank }) => area === undefined || isIn(area, tank.location))
    .map((entry) => ({ entry, rank: rankOf(entry), bytes: bytesOf(entry.tank.id) }))
    .sort((a, b) => (a.rank === b.rank ? (a.bytes < b.bytes ? -1 : 1) : a.rank - b.rank));
  return cutPage(
    matching.map(({ entry }) => entry),
    query,
  );
}

/** `entries` are oldest first. */
export function matchingAudit(entries: readonly AuditEntry[], query: AuditQuery): Page<AuditEntry> {
  const { by, object, id, from = -1e16, to = 1e16 } = query;
  const matching = entries
    .filter((entry) => (by === undefined || entry.by === by) && (object === undefined || entry.object === object))
    .filter((entry) => (id === undefined || entry.id === id) && entry.at >= from && entry.at <= to);
  return cutPage(matching.toReversed(), query);
}
