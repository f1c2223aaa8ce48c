// The history of a tank: the chart, its ranges, and the same in words and as a table.

import { useMemo, useState } from "preact/hooks";
import type { FleetTank, Forecast, Refill, Series } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { keepFocus } from "../components/focus.ts";
import { lazy } from "../components/lazy.tsx";
import { Empty, NotLoaded } from "../components/states.tsx";
import { isRefillUnconfirmed } from "../components/tank-state.ts";
import { counted, date, dateTime, percent, thresholdPercent } from "../format.ts";
import { type Live, useLive } from "../live.ts";
import { href, navigate, withQuery } from "../location.ts";
import { chartData, forecastEnd } from "./chart-data.ts";
import { EARLIEST, endOf, RANGES, type RangeName, type Span, shownRange, spanAfterKey, startOf } from "./ranges.ts";
import { areRefillsKnown } from "./refills.ts";

const Chart = lazy(() => import("./chart.tsx"));

const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;

type Props = { readonly entry: FleetTank; readonly refills: readonly Refill[] };

export function History({ entry, refills }: Props) {
  const { tank, latest } = entry;
  const forecast = isRefillUnconfirmed(entry) ? undefined : entry.forecast;
  const shown = shownRange();
  const { range, zoom } = shown;
  const key = `series ${tank.id} ${range} ${zoom?.from} ${zoom?.to}`;
  const { data, error, refresh } = useLive(key, (signal) => loadSeries(tank.id, range, zoom, signal));
  const threshold = tank.min_fill_alert_percentage;
  const lines = useMemo(
    () => data && chartData(data, { forecast, latest, threshold }),
    [data, forecast?.computed_at, latest?.created_at, latest?.fill_percentage, threshold],
  );
  if (data === undefined || lines === undefined) {
    return (
      <section class="card history" aria-labelledby="history">
        <Heading range={range} isZoomed={zoom !== undefined} />
        {latest === null ? <NotLoaded live={{ error, refresh }} /> : <NoHistoryYet live={{ error, refresh }} />}
      </section>
    );
  }
  const [now, end] = [Date.now(), forecastEnd(forecast)];
  // What was zoomed to is shown at once; its readings follow.
  const from = zoom?.from ?? Date.parse(data.from);
  const to = endOf(shown, from, now, end);
  const within = refills.filter(({ ended_at }) => Date.parse(ended_at) >= from && Date.parse(ended_at) <= to);
  const limits = { now, forecastEnd: end };
  const zoomTo = (next: Span, replace = false) =>
    navigate(withQuery({ from: new Date(next.from).toISOString(), to: new Date(next.to).toISOString() }), { replace });
  const showWholeRange = () => zoom !== undefined && navigate(wholeRange(range), { replace: true });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    const next = spanAfterKey(event.key, { from, to }, limits);
    // The back button leads to the whole range, not to each key.
    if (next !== undefined) zoomTo(next, zoom !== undefined);
    else if (zoom !== undefined && (event.key === "0" || event.key === "Escape")) showWholeRange();
    else return;
    event.preventDefault();
  };
  const isEmpty = data.buckets.length === 0;
  const chart = isEmpty ? (
    <Empty title={zoom === undefined ? `No readings in ${RANGES[range].words}` : "No readings in this time"}>
      <p>{latest === null ? "The chart begins with the first reading of the device." : "Choose a longer range."}</p>
    </Empty>
  ) : (
    <div class="chart-space" role="img" aria-label={inWords(data, within, threshold, forecast)}>
      <Chart
        {...{ data: lines, refills, threshold, limits, zoomTo, showWholeRange }}
        span={{ from, to }}
        isZoomed={zoom !== undefined}
      />
    </div>
  );
  return (
    <section class="card history" aria-labelledby="history">
      <Heading range={range} isZoomed={zoom !== undefined} />
      {isEmpty && zoom === undefined ? (
        chart
      ) : (
        <figure>
          <div
            role="application"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard zooms and moves the chart
            tabIndex={0}
            aria-label="Chart: plus and minus zoom, left and right arrow keys move it, 0 or Escape shows the whole range"
            onKeyDown={onKeyDown}
          >
            {isEmpty ? <div class="chart-space">{chart}</div> : chart}
          </div>
          {isEmpty ? null : (
            <>
              <Caption step={data.step} since={sinceWhen(data.buckets)} />
              <SeriesTable series={data} />
            </>
          )}
        </figure>
      )}
    </section>
  );
}

/** As high as the chart with its caption will be, so that nothing below it moves. */
const NoHistoryYet = ({ live }: { readonly live: Pick<Live<unknown>, "error" | "refresh"> }) => (
  <figure>
    <div class="chart-space">
      <NotLoaded live={live} />
    </div>
    <div class="reserved" aria-hidden="true">
      <Caption step="1d" since="" />
      <p>As a table</p>
    </div>
  </figure>
);

const Caption = ({ step, since }: { readonly step: Series["step"]; readonly since: string }) => (
  <figcaption class="dim">
    The light band is the lowest and the highest reading of each {STEPS[step]}; arrows, or ticks where there are many, are refills
    {since}; the dashed line is the forecast, with a probability of 80 % within its band. Drag or pinch to zoom, or use the keys
    +, −, ←, → and 0.
  </figcaption>
);

async function loadSeries(id: string, range: RangeName, zoom: Span | undefined, signal: AbortSignal): Promise<Series> {
  const from = zoom?.from ?? startOf(range, range === "all" ? await firstReading(id, signal) : 0, Date.now());
  const to = zoom === undefined ? {} : { to: new Date(zoom.to).toISOString() };
  return api.insight.tanks.series(id, { from: new Date(from).toISOString(), ...to, step: "auto", timezone, signal });
}

async function firstReading(id: string, signal: AbortSignal): Promise<number> {
  const { buckets } = await api.insight.tanks.series(id, { from: EARLIEST, step: "1M", timezone, signal });
  return buckets[0] === undefined ? Date.now() : Date.parse(buckets[0].start);
}

const wholeRange = (range: RangeName): string =>
  withQuery({ range: range === "quarter" ? undefined : range, from: undefined, to: undefined });

function Heading({ range, isZoomed }: { readonly range: RangeName; readonly isZoomed: boolean }) {
  const link = (name: RangeName) => href(wholeRange(name));
  return (
    <div class="card-head">
      <h2 id="history">History</h2>
      <nav class="segments" aria-label="Range of the history">
        {(Object.keys(RANGES) as RangeName[]).map((name) => (
          <a key={name} href={link(name)} aria-current={name === range && !isZoomed ? "true" : undefined}>
            {RANGES[name].label}
          </a>
        ))}
      </nav>
      {isZoomed ? (
        <a class="button" href={link(range)} onClick={keepFocusInHead}>
          Whole range
        </a>
      ) : null}
    </div>
  );
}

/** On the range that is shown then. */
function keepFocusInHead({ currentTarget }: MouseEvent): void {
  const head = (currentTarget as Element).closest(".card-head");
  keepFocus(() => head?.querySelector<HTMLElement>("[aria-current]"));
}

const STEPS: Readonly<Record<Series["step"], string>> = {
  "15m": "quarter of an hour",
  "1h": "hour",
  "6h": "six hours",
  "1d": "day",
  "1w": "week",
  "1M": "month",
};

/** Readings may be older than the refills that are known. */
const sinceWhen = ([first]: Series["buckets"]): string =>
  first === undefined || areRefillsKnown(Date.parse(first.start)) ? "" : " in the last two years";

function inWords({ buckets }: Series, refills: readonly Refill[], threshold: number, forecast: Forecast | undefined): string {
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (first === undefined || last === undefined) return "No readings";
  const low = Math.min(...buckets.map(({ min }) => min));
  const high = Math.max(...buckets.map(({ max }) => max));
  const expected = forecast?.runs_low_at.p50;
  return [
    `Chart of the level from ${date(first.start)} on: lowest ${percent(low)}, highest ${percent(high)}, latest ${percent(last.last)}.`,
    `Threshold ${thresholdPercent(threshold)}. ${counted(refills.length, "refill")}${sinceWhen(buckets)}.`,
    expected === undefined || expected === null ? "" : `Expected to run low on ${date(expected)}.`,
  ].join(" ");
}

/** What the chart shows, for those who cannot see it, or want numbers. */
function SeriesTable({ series }: { readonly series: Series }) {
  const [isOpen, setIsOpen] = useState(false);
  const hasTimes = series.step === "15m" || series.step === "1h" || series.step === "6h";
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section class="table-box scrolling" tabIndex={0} aria-label="Levels">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">From</th>
                {["Lowest", "Highest", "Last", "Readings"].map((name) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {series.buckets.toReversed().map((bucket) => (
                <BucketRow key={bucket.start} bucket={bucket} hasTime={hasTimes} />
              ))}
            </tbody>
          </table>
        </section>
      ) : null}
    </details>
  );
}

type RowProps = { readonly bucket: Series["buckets"][number]; readonly hasTime: boolean };

const BucketRow = ({ bucket: { start, min, max, last, count }, hasTime }: RowProps) => (
  <tr>
    <td>{hasTime ? dateTime(start) : date(start)}</td>
    <td class="number">{percent(min)}</td>
    <td class="number">{percent(max)}</td>
    <td class="number">{percent(last)}</td>
    <td class="number">{count}</td>
  </tr>
);
