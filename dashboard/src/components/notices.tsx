// Short notices in a corner: an alert that was opened, a change that was stored. Screen readers read them out.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "./button.tsx";
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

/** How many dialogs are open. */
const dialogs = signal(0);

export const Notices = () => <NoticeList notices={dialogs.value === 0 ? shown.value : []} />;

/** Those of an open dialog: what is outside of it is behind it, cannot be used, and is not read out. */
export function DialogNotices() {
  useEffect(() => {
    dialogs.value += 1;
    return () => {
      dialogs.value -= 1;
    };
  }, []);
  return <NoticeList notices={shown.value} isInDialog />;
}

type ListProps = { readonly notices: typeof shown.value; readonly isInDialog?: boolean };

/** From a dialog, links open another tab, so that the form is not lost. */
function NoticeList({ notices, isInDialog = false }: ListProps) {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.map(({ number, text, icon = "check", href }) => (
        <p class="notice" key={number}>
          <Icon name={icon} />
          {href === undefined ? (
            <span dir="auto">{text}</span>
          ) : (
            <a href={href} target={isInDialog ? "_blank" : undefined}>
              {text}
            </a>
          )}
          <Button aria-label="Dismiss" onClick={() => dismiss(number)} look="quiet">
            <Icon name="close" />
          </Button>
        </p>
      ))}
    </div>
  );
}
