// The buttons of an alert, by role, and the dialogs that they open.

import { useState } from "preact/hooks";
import type { Alert } from "../../../client/src/index.ts";
import { may } from "../session.ts";
import { AcknowledgeDialog, CloseDialog, PauseDialog } from "./dialogs.tsx";
import { NotificationsDialog } from "./notifications.tsx";

type Action = "acknowledge" | "close" | "pause" | "notifications";

export function Actions({ alert, changed }: { readonly alert: Alert; readonly changed: () => Promise<void> }) {
  const [dialog, setDialog] = useState<Action>();
  const close = () => setDialog(undefined);
  const button = (action: Action, label: string, look = "button") => (
    <button class={look} type="button" onClick={() => setDialog(action)}>
      {label}
    </button>
  );
  const canChange = may("dispatcher") && alert.state !== "closed";
  const props = { alert, close, changed };
  return (
    <>
      {canChange && alert.state === "open" ? button("acknowledge", "Acknowledge") : null}
      {canChange ? button("close", "Close", "button quiet") : null}
      {canChange ? button("pause", "Pause", "button quiet") : null}
      {may("admin") ? button("notifications", "Sent", "button quiet") : null}
      {dialog === "acknowledge" ? <AcknowledgeDialog {...props} /> : null}
      {dialog === "close" ? <CloseDialog {...props} /> : null}
      {dialog === "pause" ? <PauseDialog tankId={alert.tank_id} close={close} changed={changed} /> : null}
      {dialog === "notifications" ? <NotificationsDialog alertId={alert.id} close={close} /> : null}
    </>
  );
}
