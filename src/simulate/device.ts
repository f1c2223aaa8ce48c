// Simulate: a client of the service, as devices, their gateways and network servers are. It talks HTTP or MQTT like any of
// them. May not: import anything of ours but what is pure in `domain`.

import type { Instant } from "../domain/instant.ts";
import type { Shape } from "../domain/shape.ts";
import type { Maker } from "./makers.ts";

/** A device, and the tank that it measures. */
export type Device = {
  /** Where it is an EUI-64, in lower case. */
  readonly id: string;
  readonly tankId: string;
  readonly maker: Maker;
  /** All its lengths are whole millimetres, in whatever unit. */
  readonly shape: Shape;
};

/** Devices by number, from 0. They are made when somebody asks for one, so that a hundred thousand of them take no memory. */
export type Fleet = {
  readonly size: number;
  readonly device: (number: number) => Device;
  /** How full its tank is, asked with rising instants; undefined where its sensor is not heard. */
  readonly fillAt: (number: number, at: Instant) => number | undefined;
};
