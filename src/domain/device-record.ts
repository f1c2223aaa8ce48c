// Devices as lines of an import or export file: how the payloads of one are read, and which tanks it served when. Which tank it
// serves now is said by that tank's own line; here it is only held against it.

import { type Device, type DeviceAssignment, deviceKey, EARLIEST, type ProfileChoice } from "./device.ts";
import { idField, instantField, nullableInstantField } from "./fields.ts";
import { formatInstant, type Instant, instantOf } from "./instant.ts";
import { errorsInProfile, profileOf } from "./profile.ts";
import { array, integer, literal, nullable, object, type Static } from "./schema.ts";
import { errorInObject } from "./validate.ts";

/** What is undefined stays as it is. */
export type DeviceRecord = {
  /** As `deviceKey` has it. */
  readonly id: string;
  readonly tank_id: string | null | undefined;
  readonly since: Instant | undefined;
  readonly profile: ProfileChoice | null | undefined;
  readonly dropped: number | undefined;
  readonly assignments: readonly DeviceAssignment[] | undefined;
};

/** A device with all that an export tells of it. */
export type DeviceWithHistory = {
  readonly device: Device;
  readonly dropped: number;
  /** In order. */
  readonly assignments: readonly DeviceAssignment[];
};

const tank_id = idField("A tank", "tank_01kxa8w5s0b6h1k3p5x9z2f4g7");
const DeviceLine = object({
  id: idField("The device", "a84041c2f1827d3e"),
  object: literal("device"),
  tank_id: nullable(tank_id),
  since: nullableInstantField("Since when it is where it is"),
  dropped: integer({ minimum: 0 }),
  services: array(object({ tank_id, until: instantField("Until when, not included, it served that tank") })),
});
type Line = Partial<Static<typeof DeviceLine>> & { readonly id: string; readonly profile?: ProfileChoice | null };

/** The record, or what is wrong with the line. */
export function decodeDeviceRecord(value: object): DeviceRecord | string {
  const { profile, waiting: _derived, ...fields } = value as { profile?: unknown; waiting?: unknown };
  const fault = errorInObject(DeviceLine, ["id"], fields) ?? errorInProfile(profile);
  if (fault !== undefined) return fault;
  const line = value as Line;
  const id = deviceKey(line.id);
  const services = line.services && assignmentsOf(id, line.services);
  if (services !== undefined && services.length !== line.services?.length) {
    return "services: no two of them may end at the same instant";
  }
  if (line.since === undefined && services !== undefined && services.length > 0) {
    return "since: is missing, and what it served before ends there";
  }
  return {
    id,
    tank_id: line.tank_id,
    since: sinceOf(line.since),
    profile: typeof line.profile === "object" && line.profile !== null ? profileOf(line.profile) : line.profile,
    dropped: line.dropped,
    assignments: services,
  };
}

function sinceOf(since: string | null | undefined): Instant | undefined {
  return since === null ? EARLIEST : since === undefined ? undefined : instantOf(since);
}

function errorInProfile(profile: unknown): string | undefined {
  if (profile === undefined || profile === null) return undefined;
  const [first] = errorsInProfile(profile);
  return first && `${first.field}: ${first.message}`;
}

/** In order; one for an instant. */
function assignmentsOf(device: string, services: NonNullable<Line["services"]>): DeviceAssignment[] {
  const ends = new Map(services.map(({ tank_id: tankId, until }) => [instantOf(until), tankId]));
  return [...ends].map(([until, tankId]) => ({ device, until, tankId })).sort((a, b) => a.until - b.until);
}

export function deviceLine({ device, dropped, assignments: services }: DeviceWithHistory) {
  const { id, tank_id, since, profile } = device;
  const past = services.map(({ tankId, until }) => ({ tank_id: tankId, until: formatInstant(until) }));
  return { id, object: "device", tank_id, since: sinceText(since), profile, dropped, services: past };
}

/** Null where it was nowhere else before. */
function sinceText(since: Instant): string | null {
  return since === EARLIEST ? null : formatInstant(since);
}
