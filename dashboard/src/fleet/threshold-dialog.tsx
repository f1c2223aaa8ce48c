// Changes the threshold of several tanks.

import { useState } from "preact/hooks";
import { ApiError, type FleetTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Dialog } from "../components/dialog.tsx";
import { messageOf } from "../components/error-message.ts";
import { Field } from "../components/field.tsx";
import { notify } from "../components/notices.tsx";
import { counted, thresholdPercent, whole } from "../format.ts";

type Props = {
  readonly tanks: readonly FleetTank["tank"][];
  /** How many of them are not in the list on the screen. */
  readonly elsewhere: number;
  readonly close: () => void;
  readonly done: () => Promise<void>;
};

const isDeleted = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === "state_conflict" || error.code === "tank_unknown");

/** One after the other. After an error or "Cancel", those that are changed stay so, and a notice says how many. */
export function ThresholdDialog({ tanks, elsewhere, close, done }: Props) {
  const [changed, setChanged] = useState(0);
  const submit = async (form: FormData, signal: AbortSignal) => {
    const min_fill_alert_percentage = Number(form.get("threshold"));
    const deleted: string[] = [];
    for (const [index, { id, name }] of tanks.entries()) {
      const count = index - deleted.length;
      if (signal.aborted) {
        notify({ text: `Cancelled: ${whole(count)} of ${counted(tanks.length, "tank")} are changed` });
        return;
      }
      try {
        await api.manage.tanks.update(id, { min_fill_alert_percentage });
        setChanged(count + 1);
      } catch (error) {
        if (!isDeleted(error))
          throw new Error(`${name}: ${messageOf(error)} ${whole(count)} of ${counted(tanks.length, "tank")} are changed.`);
        deleted.push(name);
      }
    }
    const text = `The threshold of ${counted(tanks.length - deleted.length, "tank")} is ${thresholdPercent(min_fill_alert_percentage)}`;
    notify({ text: deleted.length === 0 ? text : `${text}. Deleted meanwhile: ${deleted.join(", ")}` });
    await done();
  };
  const first = tanks[0]?.min_fill_alert_percentage ?? 20;
  return (
    <Dialog title={`Threshold of ${counted(tanks.length, "tank")}`} action="Change" submit={submit} close={close}>
      {elsewhere === 0 ? null : (
        <p>
          You selected {counted(tanks.length, "tank")}. {whole(elsewhere)} of them {elsewhere === 1 ? "is" : "are"} not on this
          page.
        </p>
      )}
      <Field
        label="Alert threshold in %"
        help="An alert opens when the level is at or below it."
        name="threshold"
        type="number"
        min={0}
        max={100}
        step={1}
        required
        defaultValue={String(first)}
      />
      {changed === 0 ? null : (
        <p role="status">
          {whole(changed)} of {whole(tanks.length)} changed
        </p>
      )}
    </Dialog>
  );
}
