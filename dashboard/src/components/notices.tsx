// Short notices in a corner: an alert that was opened, a change that was stored. Screen readers read them out.

import { signal } from "@preact/signals";
import { Icon, type IconName } from "./icon.tsx";

type Notice = { readonly text: string; readonly icon?: IconName; readonly href?: string };

const SHOWN_MS = 8_000;
const MAX_SHOWN = 5;

let last = 0;
const shown = signal<readonly (Notice & { readonly number: number })[]>([]);

export function notify(notice: Notice): void {
  last += 1;
  const number = last;
  shown.value = [...shown.value, { ...notice, number }].slice(-MAX_SHOWN);
  setTimeout(() => dismiss(number), SHOWN_MS);
}

function dismiss(number: number): void {
  shown.value = shown.value.filter((notice) => notice.number !== number);
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {shown.value.map(({ number, text, icon = "check", href }) => (
        <p class="notice" key={number}>
          <Icon name={icon} />
          {href === undefined ? <span dir="auto">{text}</span> : <a href={href}>{text}</a>}
          <button class="button quiet" type="button" aria-label="Dismiss" onClick={() => dismiss(number)}>
            <Icon name="close" />
          </button>
        </p>
      ))}
    </div>
  );
}
