// Sends everything again that failed or was not sent in time: of a channel, or the mail to one customer or to all.

import { api } from "../api.ts";
import { Button } from "../components/button.tsx";
import { Dialog, useDialog } from "../components/dialog.tsx";
import { Field } from "../components/field.tsx";
import { textIn } from "../components/form.ts";
import { notify } from "../components/notices.tsx";
import { counted, DAY_MS, localDate } from "../format.ts";

/** After this the service removes notifications. */
const RETENTION_DAYS = 30;

type Props = {
  readonly channelId: string | undefined;
  readonly customerId: string | undefined;
  /** Of the channel or the customer. */
  readonly name: string | undefined;
  readonly sent: () => Promise<void>;
};

export function SendAllAgain(props: Props) {
  const dialog = useDialog();
  return (
    <>
      <Button onClick={() => dialog.open((close) => <SendDialog {...props} close={close} />)}>Send all again</Button>
      {dialog.shown}
    </>
  );
}

const daysAgo = (days: number): string => localDate(new Date(Date.now() - days * DAY_MS));

function SendDialog({ channelId, customerId, name, sent, close }: Props & { readonly close: () => void }) {
  const submit = async (form: FormData) => {
    const since = new Date(`${textIn(form, "since")}T00:00`).toISOString();
    const { recovered } = await (channelId === undefined
      ? api.manage.notifications.recover({ since, ...(customerId === undefined ? {} : { customer_id: customerId }) })
      : api.manage.channels.recover(channelId, { since }));
    notify({
      text: recovered === 0 ? "There is nothing to send again" : `${counted(recovered, "notification")} will be sent again`,
    });
    await sent();
  };
  const isMail = channelId === undefined;
  const what = isMail ? `mail to ${customerId === undefined ? "customers" : name}` : `notifications to ${name}`;
  return (
    <Dialog title={`Send all ${what} again`} action="Send again" submit={submit} close={close}>
      <p>
        What has failed, or was not sent in time, is sent again as it was created.
        {isMail ? " Customers who do not want mail get none. To send those of a channel again, open its notifications." : ""}
      </p>
      <Field
        label="Failed since"
        name="since"
        type="date"
        required
        min={daysAgo(RETENTION_DAYS)}
        max={daysAgo(0)}
        defaultValue={daysAgo(1)}
      />
    </Dialog>
  );
}
