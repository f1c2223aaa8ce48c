// The person who is signed in: who they are, what mail they want, and where they are signed in.

import { useEffect, useState } from "preact/hooks";
import type { Me } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ActionButton } from "../components/action-button.tsx";
import { messageOf } from "../components/error-message.ts";
import { Checkbox, SelectField } from "../components/field.tsx";
import { LANGUAGE_OPTIONS, languageIn } from "../components/form.ts";
import { Icon } from "../components/icon.tsx";
import { pageInUrl } from "../components/list.tsx";
import { notify } from "../components/notices.tsx";
import { Screen } from "../components/screen.tsx";
import { Sessions } from "../components/sessions.tsx";
import { useLive } from "../live.ts";
import { me } from "../me.ts";
import { loadSession, may, ROLE_NAMES, signOut } from "../session.ts";

const SIZE = 25;

export default function Account() {
  const page = pageInUrl();
  // The customer may have unsubscribed by the link in a mail since the dashboard was opened.
  useEffect(() => void loadSession().catch(() => undefined), []);
  const live = useLive(`sessions ${page}`, (signal) => api.auth.sessions.list({ page, size: SIZE, signal }));
  const person = me.value;
  if (person === undefined) return null;
  return (
    <Screen
      title="Account"
      actions={
        <ActionButton act={signOut}>
          <Icon name="out" />
          Sign out
        </ActionButton>
      }
    >
      <section class="card section" aria-label="You">
        <dl class="facts">
          <dt>Name</dt>
          <dd dir="auto">{person.name}</dd>
          <dt>E-mail</dt>
          <dd>{person.email}</dd>
          <dt>Role</dt>
          <dd>{ROLE_NAMES[person.role] ?? person.role}</dd>
        </dl>
        <p class="dim">
          {person.type === "customer"
            ? "Your supplier changes your name, address and phone number for you."
            : may("admin")
              ? "You change your name, address and role on the Users screen."
              : "An administrator changes your name, address and role."}
        </p>
      </section>
      {person.notifications === null ? null : <MailSettings person={person} />}
      <section class="section" aria-labelledby="sessions">
        <h2 id="sessions">Where you are signed in</h2>
        <p class="dim">End a session that you do not recognise, or that is on a device you no longer use.</p>
        <Sessions live={live} end={({ id, current }) => (current ? signOut() : api.auth.sessions.delete(id))} />
      </section>
    </Screen>
  );
}

function MailSettings({ person }: { readonly person: Me }) {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const settings = person.notifications;
  const isUnsubscribed = (settings?.unsubscribed_at ?? null) !== null;
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const wantsMail = form.has("mail");
    setBusy(true);
    setError(undefined);
    try {
      me.value = await api.insight.me.update({
        notifications: {
          language: languageIn(form, "language"),
          // Who has unsubscribed already did so then, not now.
          ...(wantsMail === isUnsubscribed ? { unsubscribed_at: wantsMail ? null : new Date().toISOString() } : {}),
        },
      });
      notify({ text: "Your settings are saved" });
    } catch (reason) {
      setError(messageOf(reason));
    }
    setBusy(false);
  };
  return (
    <section class="card section" aria-labelledby="mail">
      <h2 id="mail">Mail about your tanks</h2>
      <form class="form narrow" onSubmit={onSubmit}>
        <Checkbox key={isUnsubscribed} name="mail" defaultChecked={!isUnsubscribed}>
          Send me mail about my tanks
        </Checkbox>
        <SelectField label="Language" name="language" options={LANGUAGE_OPTIONS} defaultValue={settings?.language ?? ""} />
        {person.is_verified === false ? (
          <p class="dim">Mail is sent once your address is verified. Signing in with a link or code from a mail verifies it.</p>
        ) : null}
        {error === undefined ? null : (
          <p class="error-text" role="alert">
            {error}
          </p>
        )}
        <button class="button primary fit" type="submit" disabled={isBusy}>
          {isBusy ? "Please wait…" : "Save"}
        </button>
      </form>
    </section>
  );
}
