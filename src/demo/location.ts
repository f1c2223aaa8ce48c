// Where a demo tank stands, and what its record leaves out of that.

import type { Location } from "../domain/tank.ts";
import type { Random } from "../simulate/random.ts";
import { countryOf } from "./countries.ts";
import type { Place } from "./places.ts";

/** About two kilometres. */
const SPREAD = 0.02;

type FullLocation = { readonly [Field in keyof Location]: NonNullable<Location[Field]> };

export function locationNear(place: Place, random: Random): FullLocation {
  return {
    city: place.city,
    country: place.country,
    district: random.pick(place.districts),
    latitude: degrees(random.normal(place.latitude, SPREAD)),
    longitude: degrees(random.normal(place.longitude, SPREAD)),
    postal_code: random.pick(place.postalCodes),
    region: place.region,
    street: random.pick(countryOf(place.country).streets),
    street_number: `${random.whole(1, 140)}${random.chance(0.1) ? random.pick(["a", "b", "c"]) : ""}`,
  };
}

/** Records are seldom complete. */
export function gapsIn(location: FullLocation, random: Random): Location {
  const isPlaced = random.chance(0.94);
  const hasStreet = random.chance(0.93);
  return {
    city: random.chance(0.98) ? location.city : null,
    country: random.chance(0.99) ? location.country : null,
    district: random.chance(0.6) ? location.district : null,
    latitude: isPlaced ? location.latitude : null,
    longitude: isPlaced ? location.longitude : null,
    postal_code: random.chance(0.96) ? location.postal_code : null,
    region: random.chance(0.9) ? location.region : null,
    street: hasStreet ? location.street : null,
    street_number: hasStreet && random.chance(0.96) ? location.street_number : null,
  };
}

const degrees = (value: number): number => Math.round(value * 100_000) / 100_000;
