// The level of a tank as a bar, with its threshold as a mark.

import { percent } from "../format.ts";
import type { Tone } from "./alert-kinds.tsx";

type Props = { readonly fill: number | null; readonly threshold: number; readonly tone?: Tone | undefined };

export function Level({ fill, threshold, tone }: Props) {
  if (fill === null) return <span class="dim">no reading</span>;
  return (
    <span class={tone === undefined ? "level" : `level tone-${tone}`} title={`Threshold ${percent(threshold)}`}>
      <span class="level-bar" aria-hidden="true" style={{ "--level": String(fill), "--threshold": String(threshold) }} />
      <span class="number">{percent(fill)}</span>
    </span>
  );
}
