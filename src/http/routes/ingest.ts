// POST /ingest/v1/readings, /ingest/v1/chirpstack, /ingest/v1/tts

import { bindingOf } from "../../domain/key.ts";
import { FILL, MAX_READINGS, type ReadingResult } from "../../domain/reading.ts";
import { array, instantField, literal, number, object, oneOf, ref, text } from "../../domain/schema.ts";
import { TankObject } from "../../domain/tank.ts";
import { textFilter } from "../parameters.ts";
import { JSON_TYPE, type Route, route } from "../route.ts";

const MAX_READINGS_BYTES = 8_388_608;
const MAX_MESSAGE_BYTES = 262_144;
const STATUSES = ["stored", "duplicate", "replaced", "pending", "rejected"] as const;
const REJECTED_EXAMPLE = "fill_percentage: must be from 0 to 100";

const example = { device_id: "a84041c2f1827d3e", created_at: "2026-11-14T08:00:00.000Z", fill_percentage: 63.4 };
const { id, assigned_device_id } = TankObject.properties;

const NewReading = object(
  {
    tank_id: { ...id, description: "The tank; this or device_id" },
    device_id: { ...assigned_device_id, description: "The device that measured it; this or tank_id" },
    created_at: instantField(
      "When it was measured; now, if omitted. With it, a reading that is sent twice is stored once. Only one reading per tank or device in a body may omit it",
    ),
    fill_percentage: number({ ...FILL, description: "Fill level as a percentage; this or payload", examples: [63.4] }),
    payload: {
      type: "object",
      description: "The decoded payload of a device, interpreted by the profile of the device; at most 16 KiB",
      examples: [{ distance: 1234 }],
    },
  },
  { description: "A reading of a tank or of a device" },
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
              "stored: it is new; duplicate: it was already stored; replaced: it replaced another value for the same instant; pending: it needs a tank, a profile or a shape first; rejected: see reason",
            examples: ["stored"],
          }),
          reason: text({ description: "Why it was rejected", examples: [REJECTED_EXAMPLE] }),
        },
        {},
        ["reason"],
      ),
      { description: "The outcome of each reading, in the order sent" },
    ),
  },
  { description: "The outcomes of the readings" },
);

export const schemas = { NewReading, Results };

const response = {
  schema: ref("Results"),
  description: "The outcome of each reading; what was accepted is durable",
  examples: {
    stored: { object: "results", results: [{ status: "stored" }] },
    rejected: { object: "results", results: [{ status: "rejected", reason: REJECTED_EXAMPLE }] },
  },
};

function resultsOf(readings: readonly ReadingResult[]): object {
  const results = readings.map((result) =>
    typeof result === "string" ? { status: result } : { status: "rejected", reason: result.rejected },
  );
  return { object: "results", results };
}

const webhook = (name: "chirpstack" | "tts", title: string, message: object): Route =>
  route({
    method: "POST",
    path: `/ingest/v1/${name}`,
    operation: name === "tts" ? "receiveTts" : "receiveChirpstack",
    summary: `Webhook for ${title}`,
    description: `Accepts the JSON that ${title} sends for an uplink. A message without a reading gives no results.`,
    tag: "Ingestion",
    requiredRole: "ingest",
    parameters: { event: textFilter("The kind of event, which ChirpStack adds; all but `up` are ignored") },
    body: {
      kind: "json",
      mediaTypes: [JSON_TYPE],
      maxBytes: MAX_MESSAGE_BYTES,
      schema: { type: "object" },
      description: "The message",
      examples: { message },
    },
    response,
    // Not async, here and below, so that the body can be garbage-collected while the store works.
    handle({ services, body, key, parameters }) {
      if (parameters.event !== undefined && parameters.event !== "up") return Promise.resolve(resultsOf([]));
      return services.ingest[name](body, bindingOf(key)).then(resultsOf);
    },
  });

export const routes: readonly Route[] = [
  route({
    method: "POST",
    path: "/ingest/v1/readings",
    operation: "sendReadings",
    summary: "Send readings",
    description: `One reading, a list of up to ${MAX_READINGS}, or one per line. Each is validated by itself; the response is sent once the accepted ones are durable.`,
    tag: "Ingestion",
    requiredRole: "ingest",
    body: {
      kind: "readings",
      maxBytes: MAX_READINGS_BYTES,
      maxItems: MAX_READINGS,
      schema: ref("NewReading"),
      description: "The readings; may be compressed with gzip",
      examples: { one: example, list: [example] },
    },
    response,
    handle: ({ services, items, key }) => services.ingest.readings(items, bindingOf(key)).then(resultsOf),
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
