// A mark on the map: one tank, or how many there are. Each state has a shape of its own besides its colour.

import { ALERT_KINDS } from "../components/alert-kinds.tsx";
import { counted, whole } from "../format.ts";
import { type Cluster, STATES, type State } from "./clusters.ts";

type StateMark = { readonly label: string; readonly path: string };

/** Around 0,0 with a radius of about 7. */
export const STATE_MARKS: Readonly<Record<State, StateMark>> = {
  low: { label: ALERT_KINDS.low.label, path: "M-8-6.5H8L0 8Z" },
  leak: { label: ALERT_KINDS.leak.label, path: "M0-9.5C2-5 6-1.5 6 2.5A6 6 0 0 1-6 2.5C-6-1.5-2-5 0-9.5Z" },
  soon: { label: ALERT_KINDS.runs_low_soon.label, path: "M0-8.5 8.5 0 0 8.5-8.5 0Z" },
  silent: { label: ALERT_KINDS.silent.label, path: "M-6.5-6.5H6.5V6.5H-6.5Z" },
  unknown: { label: "No reading yet", path: "M-6-1.5H-1.5V-6H1.5V-1.5H6V1.5H1.5V6H-1.5V1.5H-6Z" },
  ok: { label: "OK", path: "M-6 0A6 6 0 1 1 6 0A6 6 0 1 1-6 0Z" },
};

export function Shape({ state, transform }: { readonly state: State; readonly transform?: string }) {
  return <path class={`shape state-${state}`} d={STATE_MARKS[state].path} transform={transform} />;
}

export const radiusOf = ({ count }: Cluster): number => (count === 1 ? 9 : Math.min(30, 13 + 4 * Math.log10(count)));

const stateOf = ({ worst }: Cluster): State => STATES[worst] ?? "ok";

type Props = {
  readonly cluster: Cluster;
  /** Of a single tank, if it is known. */
  readonly name: string | undefined;
  readonly x: number;
  readonly y: number;
  readonly open: () => void;
  /** Whether the press that ends now has moved the map. */
  readonly hasMoved: () => boolean;
};

export function Mark({ cluster, name = "1 tank", x, y, open, hasMoved }: Props) {
  const state = stateOf(cluster);
  const radius = radiusOf(cluster);
  const isOne = cluster.count === 1;
  const { label } = STATE_MARKS[state];
  const words = isOne ? `${name}: ${label}` : `${counted(cluster.count, "tank")}, the most urgent: ${label}`;
  // Screen readers click without a press.
  const onClick = ({ detail }: MouseEvent) => {
    if (detail === 0 || !hasMoved()) open();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: there are no buttons in SVG
    <g
      class="mark"
      transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}
      role="button"
      // In SVG, names of attributes have lower case.
      tabindex={0}
      aria-label={words}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      <title>{words}</title>
      <circle class="touch" r={Math.max(radius, 16)} />
      {isOne ? (
        <Shape state={state} />
      ) : (
        <>
          <circle class={`bubble state-${state}`} r={radius} />
          <text class="bubble-count" dy="0.35em">
            {cluster.count > 9999 ? `${whole(Math.round(cluster.count / 1000))}k` : whole(cluster.count)}
          </text>
          {state === "ok" ? null : <Shape state={state} transform={`translate(${radius * 0.75} ${-radius * 0.75}) scale(0.8)`} />}
        </>
      )}
    </g>
  );
}
