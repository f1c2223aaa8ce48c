// Forms about a customer: create, change, delete, restore, and add a tank.

import { useEffect, useState } from "preact/hooks";
import { ApiError, type ManagedCustomer, type NewTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { useConflict } from "../components/conflict.ts";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox, DecimalField, Field, SelectField } from "../components/field.tsx";
import { decimalIn, LANGUAGE_OPTIONS, languageIn, textIn } from "../components/form.ts";
import { useIdempotencyKey } from "../components/idempotency.ts";
import { notify } from "../components/notices.tsx";
import { counted, date } from "../format.ts";
import { UNITS } from "../tank/options.ts";

type CustomerProps = {
  /** To change; without it, one is created. */
  readonly customer?: ManagedCustomer;
  readonly close: () => void;
  readonly done: (customer: ManagedCustomer) => unknown;
};

const NEW_CUSTOMER = {
  ...{ name: "", email: "", phone: null, is_verified: false },
  notifications: { language: null, unsubscribed_at: null },
};

export function CustomerDialog({ customer: given, close, done }: CustomerProps) {
  const read = async () => given && api.manage.customers.retrieve(given.id);
  const { latest: customer, attempt } = useConflict("customer", given, read);
  const once = useIdempotencyKey();
  // The same in each attempt, so that another attempt is the same change.
  const [openedAt] = useState(() => new Date().toISOString());
  const isNew = customer === undefined;
  const { name, email, phone, is_verified, notifications } = customer ?? NEW_CUSTOMER;
  const [typedEmail, setTypedEmail] = useState(email);
  useEffect(() => setTypedEmail(email), [email]);
  // What the service stores with another address, unless the form says otherwise.
  const isSameAddress = isNew || typedEmail.trim() === email;
  const isVerified = isSameAddress && is_verified;
  const unsubscribedAt = isSameAddress ? notifications.unsubscribed_at : null;
  const submit = async (form: FormData) => {
    const wantsMail = form.has("mail");
    const fields = {
      name: textIn(form, "name"),
      email: textIn(form, "email"),
      phone: textIn(form, "phone") || null,
      // Only if it is changed here: the times of both are kept.
      ...(form.has("is_verified") === isVerified ? {} : { is_verified: !isVerified }),
      notifications: {
        language: languageIn(form, "notifications.language"),
        ...(wantsMail === (unsubscribedAt === null) ? {} : { unsubscribed_at: wantsMail ? null : openedAt }),
      },
    };
    const stored =
      customer === undefined
        ? await api.manage.customers.create(fields, once(fields))
        : await attempt(api.manage.customers.update(customer.id, fields, { ifMatch: customer }), fields);
    notify({ text: customer === undefined ? `${fields.name} was added` : "The customer was changed" });
    if (stored !== undefined) await done(stored);
  };
  return (
    <Dialog title={isNew ? "Add customer" : "Edit customer"} action={isNew ? "Add" : "Save"} submit={submit} close={close}>
      <Field key={`name ${name}`} label="Name" name="name" required maxLength={512} defaultValue={name} dir="auto" autoFocus />
      <Field
        key={`email ${email}`}
        label="E-mail address"
        name="email"
        type="email"
        required
        maxLength={254}
        defaultValue={email}
        help={
          isNew
            ? "The customer signs in with it, and gets mail once it is verified."
            : "Changing it ends the customer's sessions. A new address must be verified, and gets mail about alerts after that, unless you choose otherwise below."
        }
        onInput={({ currentTarget }) => setTypedEmail(currentTarget.value)}
      />
      <Field
        key={`phone ${phone}`}
        label="Phone"
        name="phone"
        type="tel"
        maxLength={64}
        defaultValue={phone ?? ""}
        help="Optional."
      />
      <SelectField
        key={`language ${notifications.language}`}
        label="Language of mail"
        name="notifications.language"
        options={LANGUAGE_OPTIONS}
        defaultValue={notifications.language ?? ""}
      />
      <Checkbox key={`verified ${isVerified}`} name="is_verified" defaultChecked={isVerified}>
        Address is verified: mail about alerts may be sent to it
      </Checkbox>
      <Checkbox key={`mail ${unsubscribedAt}`} name="mail" defaultChecked={unsubscribedAt === null}>
        Gets mail about alerts
        {unsubscribedAt === null ? "" : `. Stopped on ${date(unsubscribedAt)}: resume it only if the customer wants it`}
      </Checkbox>
    </Dialog>
  );
}

type Props = { readonly customer: ManagedCustomer; readonly close: () => void; readonly done: () => unknown };

const useCustomer = (given: ManagedCustomer) => useConflict("customer", given, () => api.manage.customers.retrieve(given.id));

export function DeleteDialog({ customer, close, done }: Props) {
  const { latest, attempt } = useCustomer(customer);
  const { id, name, tank_count } = latest;
  const submit = async () => {
    await attempt(api.manage.customers.delete(id, { ifMatch: latest, ...(tank_count === 0 ? {} : { tanks: true }) }), {
      deleted: true,
    });
    notify({ text: `${name} was deleted` });
    await done();
  };
  return (
    <Dialog title={`Delete ${name}?`} action="Delete" isDangerous submit={submit} close={close}>
      <ul class="bullets">
        <li>The customer is signed out, cannot sign in any more, and gets no mail.</li>
        <li>Keys of this customer stop working.</li>
        {tank_count === 0 ? null : (
          <li>
            {tank_count === 1
              ? "The tank of this customer is deleted, too; its alerts close, and its device becomes free."
              : `${counted(tank_count, "tank")} of this customer are deleted, too; their alerts close, and their devices become free.`}
          </li>
        )}
        <li>Nothing is lost: the customer, the tanks and their readings can be restored.</li>
      </ul>
      {tank_count === 0 ? null : (
        <Checkbox name="tanks" required>
          Yes, also delete {counted(tank_count, "tank")}
        </Checkbox>
      )}
    </Dialog>
  );
}

export function RestoreDialog({ customer, close, done }: Props) {
  const { latest, attempt } = useCustomer(customer);
  const submit = async (form: FormData) => {
    try {
      await attempt(api.manage.customers.restore(customer.id, { ifMatch: latest, tanks: form.has("tanks") }), { deleted: false });
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "device_in_use")) throw error;
      throw new Error("Other tanks have devices of these tanks now. Restore the customer alone, then its tanks one by one.");
    }
    notify({ text: `${customer.name} was restored` });
    await done();
  };
  return (
    <Dialog title={`Restore ${customer.name}?`} action="Restore" submit={submit} close={close}>
      <p>The customer can sign in again, and keys that are not revoked work again.</p>
      <Checkbox name="tanks" defaultChecked>
        Also restore the tanks that were deleted together with the customer
      </Checkbox>
    </Dialog>
  );
}

export function TankDialog({ customer, close, done }: Props) {
  const once = useIdempotencyKey();
  const submit = async (form: FormData) => {
    const city = textIn(form, "location.city");
    const fields: NewTank = {
      owner_id: customer.id,
      name: textIn(form, "name"),
      assigned_device_id: textIn(form, "assigned_device_id"),
      capacity: decimalIn(form, "capacity"),
      capacity_unit: form.get("capacity_unit") === "gallons" ? "gallons" : "liters",
      min_fill_alert_percentage: decimalIn(form, "min_fill_alert_percentage"),
      ...(city === "" ? {} : { location: { city } }),
    };
    const { name, released } = await api.manage.tanks.create(fields, once(fields));
    const stored = released === null ? "" : `; ${counted(released.readings, "pending reading")} stored`;
    notify({ text: `${name} was added${stored}` });
    await done();
  };
  return (
    <Dialog title={`Add a tank of ${customer.name}`} action="Add" submit={submit} close={close}>
      <Field label="Name" name="name" required maxLength={512} dir="auto" autoFocus />
      <Field
        label="Device"
        name="assigned_device_id"
        required
        spellcheck={false}
        autoComplete="off"
        help="The id of the device. Readings of it that are pending are stored at once."
      />
      <div class="field-grid">
        <DecimalField label="Capacity" name="capacity" required isLarge />
        <SelectField label="Unit" name="capacity_unit" options={UNITS} />
      </div>
      <DecimalField
        label="Alert threshold in %"
        name="min_fill_alert_percentage"
        required
        defaultValue="20"
        help="An alert opens when the level is at or below it."
      />
      <Field label="City" name="location.city" dir="auto" help="Optional." />
    </Dialog>
  );
}
