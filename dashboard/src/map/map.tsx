// The map: where the tanks are and which of them need somebody, with a list of those in view.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FleetMap, FleetTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Button } from "../components/button.tsx";
import { messageOf } from "../components/error-message.ts";
import { notify } from "../components/notices.tsx";
import { Screen } from "../components/screen.tsx";
import { Empty, NotLoaded } from "../components/states.tsx";
import { counted, whole } from "../format.ts";
import { useLive } from "../live.ts";
import { href, navigate, query, tankPath, withQuery } from "../location.ts";
import { may } from "../session.ts";
import { type Cluster, clustersOf, countsIn, extentOf, type Points, pointsOf, STATES } from "./clusters.ts";
import { STEP, useGestures, zoomBy } from "./gestures.ts";
import { InView, useTanksInView } from "./in-view.tsx";
import { labelsOf, tankAt, tanksWithoutTown } from "./labels.ts";
import { Mark, radiusOf, Shape, STATE_MARKS } from "./marks.tsx";
import {
  type Bounds,
  bboxOf,
  boundsOf,
  fitted,
  latitudeOf,
  limited,
  longitudeOf,
  MAX_SCALE,
  overview,
  type Size,
  surroundings,
  type View,
  WHOLE_WORLD,
  xOf,
  yOf,
} from "./projection.ts";
import { type Country, type Detail, loadCountries } from "./world.ts";

/** The service caches the map for 30 seconds, and it is large, so it is requested less often than other data. */
const FRESH_MS = 20_000;
/** The view is written to the URL, and its tanks are listed, when it has not changed for this long. */
const SETTLE_MS = 350;

export default function MapScreen() {
  const last = useRef<{ readonly at: number; readonly map: FleetMap } | undefined>(undefined);
  const { data, error, refresh } = useLive("map", async (signal) => {
    if (last.current !== undefined && Date.now() - last.current.at < FRESH_MS) return last.current.map;
    const map = await api.insight.map({ signal });
    last.current = { at: Date.now(), map };
    return map;
  });
  const points = useMemo(() => (data === undefined ? undefined : pointsOf(data)), [data]);
  // In one component, so that the heading stays the same element, with the focus.
  if (data === undefined || points === undefined) {
    return (
      <Screen title="Map">
        <NotLoaded live={{ error, refresh }} />
      </Screen>
    );
  }
  const total = points.x.length;
  const summary = (
    <>
      {counted(total, "tank")}
      {data.without_coordinates === 0 ? null : (
        <>
          , and <a href={href("/?bbox=none")}>{counted(data.without_coordinates, "tank")} without coordinates</a>
        </>
      )}
    </>
  );
  return (
    <Screen title="Map" summary={summary}>
      {total === 0 ? <NoTanks withoutCoordinates={data.without_coordinates} /> : <MapView map={data} points={points} />}
    </Screen>
  );
}

function NoTanks({ withoutCoordinates }: { readonly withoutCoordinates: number }) {
  if (withoutCoordinates > 0) {
    return (
      <Empty title="No tank has coordinates">
        <p>{may("viewer") ? "Enter the latitude and longitude of each tank in its form." : "Your supplier can enter them."}</p>
        <p>
          <a href={href("/?bbox=none")}>Show {counted(withoutCoordinates, "tank")} without coordinates</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No tanks yet">
      <p>Tanks appear here as soon as they have a latitude and a longitude.</p>
      {may("dispatcher") ? (
        <p>
          <a href={href("/customers")}>Add a customer, and then their tanks</a>
        </p>
      ) : null}
    </Empty>
  );
}

function MapView({ map, points }: { readonly map: FleetMap; readonly points: Points }) {
  const frame = useRef<HTMLDivElement>(null);
  const size = useSize(frame);
  const [chosen, setView] = useState<View | undefined>(viewInUrl);
  const all = useMemo(() => extentOf(points) ?? WHOLE_WORLD, [points]);
  const view = size === undefined ? undefined : chosen === undefined ? overview(all, size) : limited(chosen, size);
  const showAll = () => setView(undefined);
  const hasMoved = useGestures({ element: frame, view, size: size ?? NO_SIZE, setView, showAll });
  const settled = useSettledView(view, size);
  const inUrl = query.value.get("at") ?? undefined;
  const written = useRef(inUrl);
  useEffect(() => {
    if (settled === undefined) return;
    written.current = chosen === undefined ? undefined : atOf(settled.view);
    if (written.current !== inUrl) navigate(withQuery({ at: written.current }), { replace: true });
  }, [settled]);
  // A link or the back button has led to another view.
  useEffect(() => {
    if (inUrl === written.current) return;
    written.current = inUrl;
    setView(viewInUrl());
  }, [inUrl]);
  const bbox = settled === undefined ? undefined : bboxOf(boundsOf(settled.view, settled.size));
  const inView = useTanksInView(bbox);
  // The focus would be lost with the mark that was opened.
  const zoomTo = (next: View) => {
    setView(next);
    frame.current?.focus({ preventScroll: true });
  };
  const zoom = (factor: number) => view !== undefined && size !== undefined && setView(zoomBy(view, size, factor));
  return (
    <div class="map-screen">
      <div class="map-box">
        <div
          class="map"
          ref={frame}
          role="application"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard moves the map
          tabIndex={0}
          aria-label="Map: arrow keys move it, plus and minus zoom, 0 shows all"
        >
          {view === undefined || size === undefined ? null : (
            <Drawing
              map={map}
              points={points}
              tanks={inView.data?.data ?? NO_TANKS}
              view={view}
              size={size}
              zoomTo={zoomTo}
              hasMoved={hasMoved}
            />
          )}
        </div>
        <div class="map-buttons">
          <Button aria-label="Zoom in" onClick={() => zoom(STEP)}>
            +
          </Button>
          <Button aria-label="Zoom out" onClick={() => zoom(1 / STEP)}>
            −
          </Button>
          <Button onClick={showAll}>All</Button>
        </div>
        {settled === undefined ? null : <Legend points={points} bounds={boundsOf(settled.view, settled.size)} />}
      </div>
      {bbox === undefined ? null : <InView bbox={bbox} live={inView} />}
    </div>
  );
}

const NO_TANKS: readonly FleetTank[] = [];

type DrawingProps = {
  readonly map: FleetMap;
  readonly points: Points;
  /** The most urgent in view. */
  readonly tanks: readonly FleetTank[];
  readonly view: View;
  readonly size: Size;
  readonly zoomTo: (view: View) => void;
  readonly hasMoved: () => boolean;
};

/** Outside of the view, where marks are still drawn. */
const EDGE_PX = 30;
const FINE_SCALE = 2.5;

function Drawing({ map, points, tanks, view, size, zoomTo, hasMoved }: DrawingProps) {
  const countries = useCountries(view.scale > FINE_SCALE ? "fine" : "coarse");
  // In steps, so that marks stay the same while the scale changes a little.
  const step = Math.round(Math.log2(view.scale) * 2) / 2;
  const around = surroundings(view, size, 2 ** step);
  const clusters = useMemo(() => clustersOf(points, 2 ** step, around), [points, step, around.west, around.north, size]);
  const paths = useMemo(
    () => countries.map(({ name, path }) => <path key={name + path.length} class="country" d={path} />),
    [countries],
  );
  const onScreen = ({ x, y }: { readonly x: number; readonly y: number }) =>
    [(x - view.x) * view.scale + size.width / 2, (y - view.y) * view.scale + size.height / 2] as const;
  const shown = clusters
    .map((cluster) => ({ cluster, at: onScreen(cluster) }))
    .filter(({ at: [x, y] }) => x > -EDGE_PX && y > -EDGE_PX && x < size.width + EDGE_PX && y < size.height + EDGE_PX)
    .sort((a, b) => b.cluster.worst - a.cluster.worst);
  const boxes = shown.map(({ cluster, at: [x, y] }) => {
    const radius = radiusOf(cluster);
    return { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius };
  });
  const labels = labelsOf([...map.towns, ...tanksWithoutTown(tanks, clusters)], boxes, view, size);
  const opening = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => opening.current?.abort(), []);
  const open = (cluster: Cluster) => {
    opening.current?.abort();
    opening.current = new AbortController();
    openCluster(cluster, view, size, zoomTo, opening.current.signal);
  };
  const { x, y, scale } = view;
  return (
    <svg class="map-drawing" viewBox={`0 0 ${size.width} ${size.height}`} role="presentation">
      <g transform={`translate(${size.width / 2 - x * scale} ${size.height / 2 - y * scale}) scale(${scale})`}>{paths}</g>
      <g>
        {labels.map(({ name, x: left, y: top, anchor }) => (
          <text key={`${name} ${left.toFixed()}`} class="town" x={left} y={top} text-anchor={anchor}>
            {name}
          </text>
        ))}
      </g>
      {shown.map(({ cluster, at: [left, top] }) => (
        <Mark
          key={`${cluster.bounds.west} ${cluster.bounds.north} ${cluster.count}`}
          cluster={cluster}
          name={tankAt(tanks, cluster)?.tank.name}
          x={left}
          y={top}
          open={() => open(cluster)}
          hasMoved={hasMoved}
        />
      ))}
    </svg>
  );
}

/** One tank is opened; several are zoomed to, or listed where that would not separate them. */
function openCluster(
  { count, bounds }: Cluster,
  view: View,
  size: Size,
  zoomTo: (view: View) => void,
  signal: AbortSignal,
): void {
  const isSeparable = Math.max(bounds.east - bounds.west, bounds.south - bounds.north) * MAX_SCALE > 60;
  if (count > 1 && isSeparable) {
    const next = fitted(bounds, size, Math.min(size.width, size.height) / 5);
    zoomTo({ ...next, scale: Math.max(next.scale, Math.min(view.scale * STEP, MAX_SCALE)) });
    return;
  }
  const bbox = widened(bboxOf(bounds));
  if (count > 1) navigate(`/?bbox=${bbox}`);
  else openTank(bbox, signal).catch((error) => signal.aborted || notify({ text: messageOf(error), icon: "alert" }));
}

async function openTank(bbox: string, signal: AbortSignal): Promise<void> {
  const { data } = await api.insight.fleet.list({ bbox, size: 2, signal });
  const [first] = data;
  navigate(data.length === 1 && first !== undefined ? tankPath(first.tank.id) : `/?bbox=${bbox}`);
}

/** By as much as positions on the map are rounded: the filter compares exact ones. */
function widened(bbox: string): string {
  const [west = 0, south = 0, east = 0, north = 0] = bbox.split(",").map(Number);
  const half = 0.00006;
  return [Math.max(-180, west - half), Math.max(-90, south - half), Math.min(180, east + half), Math.min(90, north + half)]
    .map((degrees) => degrees.toFixed(5))
    .join(",");
}

function Legend({ points, bounds }: { readonly points: Points; readonly bounds: Bounds }) {
  const counts = countsIn(points, bounds);
  return (
    <ul class="map-legend" aria-label="Tanks in view">
      {STATES.map((state, index) => (
        <li key={state} class={counts[index] === 0 ? "dim" : undefined}>
          <svg viewBox="-10 -10 20 20" aria-hidden="true">
            <Shape state={state} />
          </svg>
          {STATE_MARKS[state].label}: {whole(counts[index] ?? 0)}
        </li>
      ))}
    </ul>
  );
}

const NO_SIZE: Size = { width: 1, height: 1 };

function useSize(element: { readonly current: HTMLElement | null }): Size | undefined {
  const [size, setSize] = useState<Size>();
  useLayoutEffect(() => {
    const target = element.current;
    if (target === null) return;
    const measure = () => setSize({ width: target.clientWidth, height: target.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return size;
}

type SettledView = { readonly view: View; readonly size: Size };

/** The view as it was when it last stopped changing. */
function useSettledView(view: View | undefined, size: Size | undefined): SettledView | undefined {
  const [settled, setSettled] = useState<SettledView>();
  const key = view === undefined ? "" : `${view.x} ${view.y} ${view.scale} ${size?.width} ${size?.height}`;
  useEffect(() => {
    if (view === undefined || size === undefined) return;
    const timer = setTimeout(() => setSettled({ view, size }), settled === undefined ? 0 : SETTLE_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return settled;
}

const NO_COUNTRIES: readonly Country[] = [];

const COUNTRIES_RETRY_MS = 10_000;

/** The others stay until these are loaded. A map without countries is still of use; they are requested again later. */
function useCountries(detail: Detail): readonly Country[] {
  const [countries, setCountries] = useState<readonly Country[]>(NO_COUNTRIES);
  useEffect(() => {
    let isWanted = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = () =>
      loadCountries(detail).then(
        (found) => isWanted && setCountries(found),
        () => {
          if (isWanted) timer = setTimeout(load, COUNTRIES_RETRY_MS);
        },
      );
    load();
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [detail]);
  return countries;
}

/** "47.9901,7.8411,640": the centre, and the scale. */
const atOf = ({ x, y, scale }: View): string =>
  `${latitudeOf(y).toFixed(4)},${longitudeOf(x).toFixed(4)},${Number(scale.toPrecision(4))}`;

function viewInUrl(): View | undefined {
  const [latitude = Number.NaN, longitude = Number.NaN, scale = Number.NaN] = (query.value.get("at") ?? "")
    .split(",")
    .map(Number);
  const isView = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && scale > 0;
  return isView ? { x: xOf(longitude), y: yOf(latitude), scale } : undefined;
}
