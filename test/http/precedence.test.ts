// A request with several faults is told the first of them, always in the same order:
// unknown route → method → key → role → rate → media type and parameters → unknown object.

import { after, describe, it } from "node:test";
import { heldClock } from "../support/clock.ts";
import { type Ask, get, refused } from "./answers.ts";
import { ENDPOINTS, startFleet } from "./fleet.ts";

const { clock } = heldClock();
const fleet = await startFleet({ after }, { clock });
const ingest = await fleet.key({ role: "ingest", rate: 1 });
const spent = await fleet.key({ rate: 1 });
for (let i = 0; i < 2; i++) await get(fleet, "/v1/tanks", { key: spent });

const JSON_BODY: Ask = { headers: { "content-type": "application/json" }, body: '{"size":2}' };
const BROKEN_TYPE: Ask = { headers: { "content-type": ";;;" }, body: "size=2" };
const LARGE_BODY: Ask = { body: "&".repeat(9000) };
const WRONG_BODIES = [JSON_BODY, BROKEN_TYPE, LARGE_BODY];

for (const { name, path, unknown } of ENDPOINTS) {
  describe(name, () => {
    const missing = unknown?.path ?? path;
    const wrong = `${missing}?size=0&colour=red`;
    const key = fleet.operator;

    it("an unknown route comes before a wrong method, a missing key and a wrong body", async () => {
      refused(await get(fleet, `/v2${wrong}`, { method: "POST", ...JSON_BODY }), 404, "route_unknown");
      refused(await get(fleet, `/v2${wrong}`, { key: spent, ...LARGE_BODY }), 404, "route_unknown");
    });

    it("an unknown route comes before a Content-Type that cannot be read", async () => {
      refused(await get(fleet, `/v2${wrong}`, { key, ...BROKEN_TYPE }), 404, "route_unknown");
    });

    it("a wrong method comes before a missing key, a wrong role, a spent rate and a wrong body", async () => {
      for (const by of [undefined, "nonsense", ingest, spent, key]) {
        for (const body of [JSON_BODY, LARGE_BODY]) {
          const ask = by === undefined ? body : { key: by, ...body };
          refused(await get(fleet, wrong, { method: "PUT", ...ask }), 405, "method_not_allowed");
        }
      }
    });

    it("a wrong method comes before a Content-Type that cannot be read", async () => {
      refused(await get(fleet, wrong, { method: "PUT", key, ...BROKEN_TYPE }), 405, "method_not_allowed");
    });

    it("a missing or wrong key comes before a wrong body and wrong parameters", async () => {
      for (const body of WRONG_BODIES) {
        refused(await get(fleet, wrong, body), 401, "key_missing");
        refused(await get(fleet, wrong, { key: "nonsense", ...body }), 401, "key_invalid");
      }
      refused(await get(fleet, `${missing}?%zz`), 401, "key_missing");
      refused(await get(fleet, missing, { body: "size=%zz" }), 401, "key_missing");
    });

    it("a role that does not reach comes before a spent rate, a wrong body and wrong parameters", async () => {
      for (const body of [...WRONG_BODIES, ...WRONG_BODIES]) {
        refused(await get(fleet, wrong, { key: ingest, ...body }), 403, "role_insufficient");
      }
    });

    it("a spent rate comes before a wrong body, wrong parameters and an unknown object", async () => {
      for (const body of WRONG_BODIES) refused(await get(fleet, wrong, { key: spent, ...body }), 429, "rate_limited");
      refused(await get(fleet, wrong, { key: spent }), 429, "rate_limited");
      refused(await get(fleet, missing, { key: spent }), 429, "rate_limited");
    });

    it("a wrong body comes before an unknown object", async () => {
      refused(await get(fleet, missing, { key, ...JSON_BODY }), 415, "media_type_unsupported");
      refused(await get(fleet, missing, { key, ...BROKEN_TYPE }), 415, "media_type_unsupported");
      refused(await get(fleet, missing, { key, ...LARGE_BODY }), 413, "body_too_large");
    });

    it("wrong parameters come before an unknown object", async () => {
      refused(await get(fleet, `${missing}?colour=red`, { key }), 400, "parameter_unknown", "colour");
      refused(await get(fleet, missing, { key, body: "colour=red" }), 400, "parameter_unknown", "colour");
      refused(await get(fleet, `${missing}?%zz`, { key }), 400, "encoding_invalid");
      refused(await get(fleet, missing, { key, body: "%zz" }), 400, "encoding_invalid");
    });

    if (unknown !== undefined) {
      it("an unknown object comes last", async () => {
        refused(await get(fleet, missing, { key }), 404, unknown.code);
      });
    }
  });
}
