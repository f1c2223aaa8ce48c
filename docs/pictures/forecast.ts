// Draws docs/pictures/forecast.svg, the picture of docs/forecasts.md, from a simulated tank:
//   npm exec -- node docs/pictures/forecast.ts > docs/pictures/forecast.svg

import { historyOf } from "../../src/domain/forecast/forecast.ts";
import { seasonAt } from "../../src/domain/forecast/season.ts";
import { DAY } from "../../src/domain/instant.ts";
import { forecast } from "../../test/support/simulated-tanks/forecast.ts";
import { tankHistory } from "../../test/support/simulated-tanks/tank-history.ts";

const START = Date.UTC(2025, 0, 1);
const NOW = Date.UTC(2025, 9, 12);
const LATITUDE = 48;
const THRESHOLD = 20;
const WIDTH = 760;
const PANEL = { left: 46, width: 690, height: 150, gap: 46 } as const;

const tank = tankHistory({
  seed: "picture 3",
  use: "heating_and_water",
  latitude: LATITUDE,
  start: START,
  days: 480,
  interval: DAY / 6,
});
const known = tank.readings.filter(({ at }) => at <= NOW);
const input = {
  latitude: LATITUDE,
  use_case: "residential",
  threshold: THRESHOLD,
  capacity: 2700,
  capacity_unit: "liters",
} as const;
const result = forecast({ ...input, readings: known, now: NOW });
const { cleaned, refills, daily } = historyOf(known);

type Point = readonly [at: number, value: number];
type Panel = {
  readonly title: string;
  readonly from: number;
  readonly to: number;
  readonly high: number;
  readonly body: (panel: Scale) => string;
};
type Scale = { readonly x: (at: number) => number; readonly y: (value: number) => number };

const number = (value: number): string => String(Math.round(value * 10) / 10);
const line = ({ x, y }: Scale, points: readonly Point[], style: string): string =>
  `<polyline fill="none" ${style} points="${points.map(([at, value]) => `${number(x(at))},${number(y(value))}`).join(" ")}"/>`;
const label = (at: number, y: number, text: string, more = ""): string =>
  `<text x="${number(at)}" y="${number(y)}" ${more}>${text}</text>`;

function draw({ title, from, to, high, body }: Panel, index: number): string {
  const top = 30 + index * (PANEL.height + PANEL.gap);
  const x = (at: number): number => PANEL.left + ((at - from) / (to - from)) * PANEL.width;
  const y = (value: number): number => top + PANEL.height * (1 - value / high);
  const months: string[] = [];
  for (let month = new Date(from); month.getTime() < to; month.setUTCMonth(month.getUTCMonth() + 1, 1)) {
    const name = month.toLocaleString("en", { month: "short", timeZone: "UTC" });
    if (month.getUTCDate() === 1) months.push(label(x(month.getTime()), top + PANEL.height + 15, name, 'class="small"'));
  }
  const frame = `<rect x="${PANEL.left}" y="${top}" width="${PANEL.width}" height="${PANEL.height}" class="frame"/>`;
  const scale = [0, high].map((value) => label(PANEL.left - 6, y(value) + 4, String(value), 'class="small" text-anchor="end"'));
  return [label(PANEL.left, top - 8, title), frame, ...scale, ...months, body({ x, y })].join("\n");
}

const kept = new Set(cleaned.map(({ at }) => at));
const every = <T>(list: readonly T[], step: number): T[] => list.filter((_, i) => i % step === 0);
const cross = (at: number, y: number): string => `<path class="wrong" d="M${number(at - 3)} ${number(y - 3)}l6 6m0-6l-6 6"/>`;

const PANELS: readonly Panel[] = [
  {
    title: "1, 2: readings (%). Crosses are outliers, dashed lines refills",
    from: START,
    to: NOW,
    high: 100,
    body: (scale) =>
      [
        line(
          scale,
          every(cleaned, 3).map(({ at, fill }) => [at, fill]),
          'class="level"',
        ),
        ...known.filter(({ at }) => !kept.has(at)).map(({ at, fill }) => cross(scale.x(at), scale.y(fill))),
        ...refills.map(({ endedAt }) =>
          line(
            scale,
            [
              [endedAt, 0],
              [endedAt, 100],
            ],
            'class="refill"',
          ),
        ),
      ].join("\n"),
  },
  {
    title: "3: one level a day, and use at present",
    from: NOW - 45 * DAY,
    to: NOW,
    high: 100,
    body: ({ x, y }) => {
      const recent = daily.filter(({ day }) => day * DAY > NOW - 45 * DAY);
      const last = recent.at(-1);
      const use = result.use_per_day?.percentage ?? 0;
      const fill = last?.fill ?? 0;
      return [
        ...recent.map(
          ({ day, fill: level }) => `<circle cx="${number(x(day * DAY))}" cy="${number(y(level))}" r="2.2" class="dot"/>`,
        ),
        line(
          { x, y },
          [
            [NOW - 21 * DAY, fill + 21 * use],
            [NOW, fill],
          ],
          'class="slope"',
        ),
      ].join("\n");
    },
  },
  {
    title: "4: heating over the year at 48° north, in shares of an average day",
    from: START,
    to: START + 365 * DAY,
    high: 3,
    body: (scale) => {
      const { heatingUntil } = seasonAt(LATITUDE, "residential");
      const days = Array.from({ length: 122 }, (_, i) => START / DAY + 3 * i);
      return line(
        scale,
        days.map((day) => [day * DAY, (heatingUntil(day + 3) - heatingUntil(day)) / 3]),
        'class="slope"',
      );
    },
  },
  {
    title: "5: the forecast, its 10–90 % range, the threshold, and what followed (dots)",
    from: NOW - 20 * DAY,
    to: NOW + 75 * DAY,
    high: 100,
    body: (scale) => {
      const ahead = Array.from({ length: 76 }, (_, i) => NOW + i * DAY);
      const at = (name: "p10" | "p50" | "p90"): Point[] => ahead.map((time) => [time, result.levelAt(time)?.[name] ?? 0]);
      const nextRefill = tank.deliveries.find(({ startedAt }) => startedAt > NOW)?.startedAt ?? Number.POSITIVE_INFINITY;
      const later = every(
        tank.readings.filter(({ at: time }) => time > NOW && time < nextRefill),
        12,
      );
      const area = [...at("p10"), ...at("p90").reverse()].map(
        ([time, level]) => `${number(scale.x(time))},${number(scale.y(level))}`,
      );
      return [
        `<polygon class="range" points="${area.join(" ")}"/>`,
        line(
          scale,
          [
            [NOW - 20 * DAY, THRESHOLD],
            [NOW + 75 * DAY, THRESHOLD],
          ],
          'class="refill"',
        ),
        line(
          scale,
          every(
            cleaned.filter(({ at: time }) => time > NOW - 20 * DAY),
            3,
          ).map((level) => [level.at, level.fill]),
          'class="level"',
        ),
        line(scale, at("p50"), 'class="slope"'),
        ...later.map(
          ({ at: time, fill }) => `<circle cx="${number(scale.x(time))}" cy="${number(scale.y(fill))}" r="2.2" class="dot"/>`,
        ),
      ].join("\n");
    },
  },
];

const STYLE =
  "text{font:13px sans-serif;fill:#333}.small{font-size:11px;fill:#777}.frame{fill:#fff;stroke:#ccc}.level{stroke:#456;stroke-width:1.2}" +
  ".wrong{stroke:#c33;stroke-width:1.4;fill:none}.refill{stroke:#999;stroke-dasharray:4 3}.dot{fill:#456}.slope{stroke:#d60;stroke-width:2}.range{fill:#d60;opacity:.18}";
const height = 30 + PANELS.length * (PANEL.height + PANEL.gap);
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="The steps of a forecast, on a simulated tank">\n` +
    `<style>${STYLE}</style>\n<rect width="${WIDTH}" height="${height}" fill="#fff"/>\n${PANELS.map(draw).join("\n")}\n</svg>\n`,
);
