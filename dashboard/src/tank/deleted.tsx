// Deleting a tank, and the screen of a deleted one, from which it is restored.

import type { ManagedTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { Button } from "../components/button.tsx";
import { useConflict } from "../components/conflict.ts";
import { Dialog, useDialog } from "../components/dialog.tsx";
import { Field } from "../components/field.tsx";
import { keepFocus } from "../components/focus.ts";
import { textIn } from "../components/form.ts";
import { notify } from "../components/notices.tsx";
import { Screen } from "../components/screen.tsx";
import { NotLoaded } from "../components/states.tsx";
import { counted, place } from "../format.ts";
import { useLive } from "../live.ts";
import { customerPath, href } from "../location.ts";
import { may } from "../session.ts";

type DeleteProps = {
  readonly tank: { readonly id: string; readonly name: string };
  readonly close: () => void;
  readonly done: () => Promise<void>;
};

export function DeleteTank({ tank: { id, name }, close, done }: DeleteProps) {
  const submit = async () => {
    await api.manage.tanks.delete(id);
    notify({ text: `${name} was deleted` });
    await done();
    keepFocus();
  };
  return (
    <Dialog title={`Delete ${name}?`} action="Delete" isDangerous submit={submit} close={close}>
      <ul class="bullets">
        <li>The customer does not see the tank any more, and its alerts close.</li>
        <li>Its device becomes free for another tank.</li>
        <li>Nothing is lost: the tank and its readings can be restored, here or from the page of its customer.</li>
      </ul>
    </Dialog>
  );
}

/** For staff. `restored` loads the tank again. */
export function DeletedTank({ id, restored }: { readonly id: string; readonly restored: () => Promise<void> }) {
  const { data, error, refresh } = useLive(`deleted tank ${id}`, (signal) => api.manage.tanks.retrieve(id, { signal }));
  const dialog = useDialog();
  if (data === undefined) {
    return (
      <Screen title="Tank">
        <NotLoaded live={{ error, refresh }} />
      </Screen>
    );
  }
  const restore = () => dialog.open((close) => <RestoreTank tank={data} close={close} done={restored} />);
  return (
    <Screen
      title={data.name}
      summary={<a href={href(customerPath(data.owner_id))}>Its customer</a>}
      actions={
        may("dispatcher") ? (
          <Button onClick={restore} look="primary">
            Restore
          </Button>
        ) : undefined
      }
    >
      <p class="note" role="status">
        This tank has been deleted. Its readings are kept, and it can be restored.
      </p>
      <section class="card section" aria-label="Tank">
        <dl class="facts">
          <dt>Place</dt>
          <dd dir="auto">{place(data.location) || "–"}</dd>
          <dt>Device</dt>
          <dd>
            <code>{data.assigned_device_id}</code>
          </dd>
          <dt>Id</dt>
          <dd>
            <code>{data.id}</code>
          </dd>
        </dl>
      </section>
      {dialog.shown}
    </Screen>
  );
}

type RestoreProps = { readonly tank: ManagedTank; readonly close: () => void; readonly done: () => Promise<void> };

function RestoreTank({ tank, close, done }: RestoreProps) {
  const { latest, attempt } = useConflict("tank", tank, () => api.manage.tanks.retrieve(tank.id));
  const submit = async (form: FormData) => {
    const device = textIn(form, "assigned_device_id");
    const change = device === latest.assigned_device_id ? {} : { assigned_device_id: device };
    const wanted = { deleted: false, assigned_device_id: device };
    const restored = await attempt(api.manage.tanks.restore(latest.id, change, { ifMatch: latest }), wanted);
    const released = "released" in restored ? restored.released : null;
    const stored = released === null ? "" : `; ${counted(released.readings, "pending reading")} stored`;
    notify({ text: `${restored.name} was restored${stored}` });
    await done();
    keepFocus();
  };
  return (
    <Dialog title={`Restore ${tank.name}?`} action="Restore" submit={submit} close={close}>
      <p>The tank is in the fleet again, with its readings.</p>
      <Field
        key={latest.assigned_device_id}
        label="Device"
        name="assigned_device_id"
        required
        spellcheck={false}
        autoComplete="off"
        defaultValue={latest.assigned_device_id}
        help="Another one, if this device is assigned to another tank by now."
      />
    </Dialog>
  );
}
