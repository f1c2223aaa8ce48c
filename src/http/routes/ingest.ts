// POST /ingest/v1/readings, /ingest/v1/chirpstack, /ingest/v1/tts: where readings come in over HTTP.

import { bindingOf } from "../../domain/key.ts";
import { FILL } from "../../domain/reading.ts";
import { array, idField, instantField, literal, number, object, oneOf, ref, text } from "../../domain/schema.ts";
import type { Outcome } from "../doors.ts";
import { tankExample } from "../examples.ts";
import { NO_PARAMETERS, textFilter } from "../parameters.ts";
import { JSON_TYPE, type Route, route } from "../route.ts";

const READINGS_MAX_BYTES = 8_388_608;
const MESSAGE_MAX_BYTES = 262_144;
const READINGS_MOST = 10_000;
const STATUSES = ["stored", "duplicate", "replaced", "waiting", "rejected"] as const;

const example = { device_id: tankExample.assigned_device_id, created_at: "2026-11-14T08:00:00.000Z", fill_percentage: 63.4 };

const NewReading = object(
  {
    tank_id: idField("The tank it is of; this or device_id", tankExample.id),
    device_id: idField("The device that measured it; this or tank_id", tankExample.assigned_device_id),
    created_at: instantField(
      "When it was measured; where it is left out, now. With it, a reading sent twice is stored once. Of several readings of one tank or device in a body, only one may leave it out",
    ),
    fill_percentage: number({ ...FILL, description: "Fill level as a percentage; this or payload", examples: [63.4] }),
    payload: {
      type: "object",
      description: "The decoded payload of a device, which the profile of the device tells how to read; at most 16 KiB",
      examples: [{ distance: 1234 }],
    },
  },
  { description: "A reading, of a tank or of a device" },
  ["tank_id", "device_id", "created_at", "fill_percentage", "payload"],
);

const Results = object(
  {
    object: literal("results", { description: "Always `results`" }),
    results: array(
      object(
        {
          status: oneOf(STATUSES, {
            description:
              "stored: it is new; duplicate: it was there; replaced: another value was there for this instant; waiting: its device has no tank or no profile yet; rejected: see reason",
            examples: ["stored"],
          }),
          reason: text({ description: "Why it was rejected", examples: ["fill_percentage: must be from 0 to 100"] }),
        },
        {},
        ["reason"],
      ),
      { description: "What became of each reading, in the order sent" },
    ),
  },
  { description: "What became of the readings" },
);

export const ingestSchemas = { NewReading, Results };

const answer = {
  mediaType: JSON_TYPE,
  schema: ref("Results"),
  description: "What became of each reading; it is safe by now",
  examples: {
    stored: { object: "results", results: [{ status: "stored" }] },
    rejected: { object: "results", results: [{ status: "rejected", reason: "fill_percentage: must be from 0 to 100" }] },
  },
};

function results(outcomes: readonly Outcome[]): object {
  const told = (outcome: Outcome) =>
    typeof outcome === "string" ? { status: outcome } : { status: "rejected", reason: outcome.rejected };
  return { object: "results", results: outcomes.map(told) };
}

const webhook = (name: "chirpstack" | "tts", title: string, message: object): Route =>
  route({
    method: "POST",
    path: `/ingest/v1/${name}`,
    operation: name === "tts" ? "receiveTts" : "receiveChirpstack",
    summary: `Webhook for ${title}`,
    description: `Takes the JSON that ${title} sends for an uplink. What carries no reading is answered with no results.`,
    tag: "Ingestion",
    reach: "ingest",
    parameters: { event: textFilter("The kind of event, as ChirpStack adds it; all but up are let pass") },
    body: {
      kind: "json",
      mediaTypes: [JSON_TYPE],
      maxBytes: MESSAGE_MAX_BYTES,
      schema: { type: "object" },
      description: "The message",
      examples: { message },
    },
    answer,
    refusals: [],
    // Not async, here and below: what was sent is let go while the store works.
    ask({ doors, body, key, values }) {
      if (values.event !== undefined && values.event !== "up") return Promise.resolve(results([]));
      return doors.ingest[name](body, bindingOf(key)).then(results);
    },
  });

export const ingestRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/ingest/v1/readings",
    operation: "sendReadings",
    summary: "Send readings",
    description: `One reading, a list of up to ${READINGS_MOST}, or one a line. Each is judged by itself; the answer comes once what is to be kept is safe.`,
    tag: "Ingestion",
    reach: "ingest",
    parameters: NO_PARAMETERS,
    body: {
      kind: "readings",
      maxBytes: READINGS_MAX_BYTES,
      maxItems: READINGS_MOST,
      schema: ref("NewReading"),
      description: "The readings; may be packed with gzip",
      examples: { one: example, list: [example] },
    },
    answer,
    refusals: [],
    ask: ({ doors, items, key }) => doors.ingest.readings(items, bindingOf(key)).then(results),
  }),
  webhook("chirpstack", "ChirpStack v4", {
    deduplicationId: "3ac7e3c4-4401-4b8d-9386-a5c902f9202d",
    time: "2026-11-14T08:00:00.775023242+00:00",
    deviceInfo: { devEui: "a84041c2f1827d3e" },
    fPort: 85,
    object: { battery: 100, distance: 1234 },
  }),
  webhook("tts", "The Things Stack v3", {
    end_device_ids: { device_id: "tank-12", dev_eui: "A84041C2F1827D3E" },
    received_at: "2026-11-14T08:00:00.775023242Z",
    uplink_message: { f_port: 85, decoded_payload: { battery: 100, distance: 1234 } },
  }),
];
