// Icons, drawn with lines in the colour of the text. They go beside a word, and are hidden from screen readers.

const SHAPES = {
  fleet: "M4 6h16M4 12h16M4 18h10",
  map: "M9 4 3 6.5v13.5l6-2.5 6 2.5 6-2.5V4l-6 2.5L9 4Zm0 0v13.5M15 6.5V20",
  alert: "M12 3a6 6 0 0 0-6 6v4l-2 3h16l-2-3V9a6 6 0 0 0-6-6ZM10 19a2 2 0 0 0 4 0",
  customer: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 21a8 8 0 0 1 16 0",
  device: "M8 8a6 6 0 0 1 8 0M5 5a10 10 0 0 1 14 0M9 12h6v8H9z",
  channel: "M4 6h16v12H4zM4 7l8 6 8-6",
  key: "M14 10a4 4 0 1 0-3.5 4L12 15.5h2V18h2.5v2H20v-3l-6-6",
  user: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20a6.5 6.5 0 0 1 13 0M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14a6.5 6.5 0 0 1 3.5 6",
  audit: "M6 3h9l4 4v14H6zM9 12h7M9 16h7M9 8h3",
  low: "M12 4v11M7 11l5 5 5-5M5 20h14",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3.5 2",
  silent: "M3 3l18 18M8.5 8.5a6 6 0 0 0-1 1M5 5.5l-.5.5M16 8a6 6 0 0 0-3-1.4M19 5A10 10 0 0 0 10 3.3M12 14v.01M12 18v.01",
  drop: "M12 3s6 6.5 6 11a6 6 0 0 1-12 0c0-4.5 6-11 6-11Z",
  pause: "M9 5v14M15 5v14",
  check: "M5 12.5l4.5 4.5L19 7.5",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16 16l5 5",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  left: "M15 5l-7 7 7 7",
  right: "M9 5l7 7-7 7",
  up: "M6 15l6-6 6 6",
  down: "M6 9l6 6 6-6",
  flat: "M5 12h14",
  unknown: "M9 9a3 3 0 1 1 4 2.8c-.7.3-1 .8-1 1.7M12 17v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  out: "M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9",
} as const;

export type IconName = keyof typeof SHAPES;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={SHAPES[name]} />
    </svg>
  );
}
