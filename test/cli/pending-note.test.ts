// What commands say that pending readings of a device need.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pendingNote } from "../../src/cli/device.ts";

test("a command says what pending readings need", () => {
  const device = { tank_id: "t-1", profile: "dragino-dds75-lb", pending: 2 };
  const noteFor = (pending_reason: string) => pendingNote({ ...device, pending_reason });
  assert.equal(pendingNote({ ...device, tank_id: null }), "; 2 pending readings need a tank");
  assert.equal(pendingNote({ ...device, pending: 1, profile: null }), "; 1 pending reading needs a profile");
  assert.equal(noteFor("the tank has no shape"), "; 2 pending readings need the shape of its tank");
  assert.equal(
    noteFor("the shape of the tank has no sensor_height"),
    "; 2 pending readings need the sensor_height in the shape of its tank",
  );
  assert.equal(
    noteFor("the device's profile does not match the payload (Distance: is missing from the payload)"),
    "; 2 pending readings need another profile (Distance: is missing from the payload)",
  );
  assert.equal(
    pendingNote(device),
    "; 2 pending readings need a shape of its tank with sensor_height, or another profile: see device show",
  );
  assert.match(
    pendingNote({ ...device, pending_reason: null }),
    /need a tank that it was assigned to before: restored, or with its shape$/,
  );
  assert.equal(pendingNote({ ...device, pending: 0 }), "");
});
