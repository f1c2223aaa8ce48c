// The buttons of an alert, by role, and the dialogs that they open.

import type { ComponentChildren } from "preact";
import type { Alert } from "../../../client/src/index.ts";
import { useDialog } from "../components/dialog.tsx";
import { may } from "../session.ts";
import { AcknowledgeDialog, CloseDialog, PauseDialog } from "./dialogs.tsx";
import { NotificationsDialog } from "./notifications.tsx";

export function Actions({ alert, changed }: { readonly alert: Alert; readonly changed: () => Promise<void> }) {
  const dialog = useDialog();
  const button = (label: string, render: (close: () => void) => ComponentChildren, look = "button quiet") => (
    <button class={look} type="button" onClick={() => dialog.open(render)}>
      {label}
    </button>
  );
  const canChange = may("dispatcher") && alert.state !== "closed";
  const props = { alert, changed };
  return (
    <>
      {canChange && alert.state === "open"
        ? button("Acknowledge", (close) => <AcknowledgeDialog {...props} close={close} />, "button")
        : null}
      {canChange ? button("Close", (close) => <CloseDialog {...props} close={close} />) : null}
      {canChange ? button("Pause", (close) => <PauseDialog tankId={alert.tank_id} close={close} changed={changed} />) : null}
      {may("admin") ? button("Sent", (close) => <NotificationsDialog alertId={alert.id} close={close} />) : null}
      {dialog.shown}
    </>
  );
}
