// The buttons of an alert, by role, and the dialogs that they open.

import type { Alert, FleetTank } from "../../../client/src/index.ts";
import { Button } from "../components/button.tsx";
import type { OpenDialog } from "../components/dialog.tsx";
import { may } from "../session.ts";
import { AcknowledgeDialog, CloseDialog, NoteDialog, PauseDialog } from "./dialogs.tsx";
import { NotificationsDialog } from "./notifications.tsx";

type Props = {
  readonly alert: Alert;
  readonly entry: FleetTank | undefined;
  /** Of the screen, because the row may be gone while its dialog is open. */
  readonly open: OpenDialog;
  readonly changed: () => Promise<void>;
};

export const noteLabel = ({ note }: Alert): string => (note === null ? "Add note" : "Change note");

export function Actions({ alert, entry, open, changed }: Props) {
  const quietButton = (label: string, render: Parameters<OpenDialog>[0]) => (
    <Button onClick={() => open(render)} look="quiet">
      {label}
    </Button>
  );
  const canChange = may("dispatcher") && alert.state !== "closed";
  const props = { alert, entry, changed };
  return (
    <>
      {canChange && alert.state === "open" ? (
        <Button onClick={() => open((close) => <AcknowledgeDialog {...props} close={close} />)}>Acknowledge</Button>
      ) : null}
      {canChange && alert.state === "acknowledged"
        ? quietButton(noteLabel(alert), (close) => <NoteDialog {...props} close={close} />)
        : null}
      {canChange ? quietButton("Close", (close) => <CloseDialog {...props} close={close} />) : null}
      {canChange ? quietButton("Pause", (close) => <PauseDialog tankId={alert.tank_id} {...props} close={close} />) : null}
      {may("admin")
        ? quietButton("Notifications", (close) => <NotificationsDialog alert={alert} entry={entry} close={close} />)
        : null}
    </>
  );
}
