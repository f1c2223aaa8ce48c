// The shapes of countries, projected once. The files are large: each is loaded when it is first needed.

import { geoMercator, geoPath } from "d3-geo";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import fine from "world-atlas/countries-50m.json";
import coarse from "world-atlas/countries-110m.json";
import { WORLD } from "./projection.ts";

const FILES = { coarse, fine } as const;
export type Detail = keyof typeof FILES;

/** A path for SVG. */
export type Country = { readonly name: string; readonly path: string };

type Atlas = Topology<{ readonly countries: GeometryCollection<{ readonly name: string }> }>;

const DIGITS = 4;
const loaded = new Map<Detail, Promise<readonly Country[]>>();

/** After an error it is tried again. */
export function loadCountries(detail: Detail): Promise<readonly Country[]> {
  const known = loaded.get(detail) ?? load(detail);
  loaded.set(detail, known);
  known.catch(() => loaded.delete(detail));
  return known;
}

async function load(detail: Detail): Promise<readonly Country[]> {
  const response = await fetch(new URL(FILES[detail], import.meta.url));
  if (!response.ok) throw new Error(`The map could not be loaded (${response.status}).`);
  const atlas = (await response.json()) as Atlas;
  const projection = geoMercator()
    .scale(WORLD / (2 * Math.PI))
    .translate([WORLD / 2, WORLD / 2]);
  const draw = geoPath(projection).digits(DIGITS);
  const { features } = feature(atlas, atlas.objects.countries);
  return features.map((country) => ({ name: country.properties.name, path: draw(country) ?? "" }));
}
