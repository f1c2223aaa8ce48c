// The button that creates a link to sign in, for use without mail, and the dialog that shows it.

import type { SignInLink } from "../../../client/src/index.ts";
import { dateTime } from "../format.ts";
import { href } from "../location.ts";
import { ActionButton } from "./action-button.tsx";
import { type OpenDialog, SecretDialog } from "./dialog.tsx";

type Props = {
  /** Who signs in with it. */
  readonly account: { readonly object: "user" | "customer"; readonly name: string };
  readonly create: () => Promise<SignInLink>;
  readonly open: OpenDialog;
};

export function SignInLinkButton({ account: { object, name }, create, open }: Props) {
  const act = async () => {
    const { url, expires_at } = await create();
    // Without PUBLIC_URL it is a path of this service.
    const link = new URL(url.startsWith("/") ? href(url) : url, globalThis.location.href).href;
    open((close) => (
      <SecretDialog title={`Sign-in link for ${name}`} value={link} close={close}>
        <p>
          Whoever opens it signs in as this {object}: send it to nobody else. It works once, until {dateTime(expires_at)}.
        </p>
      </SecretDialog>
    ));
  };
  return (
    <ActionButton act={act} of={`for ${name}`}>
      Create sign-in link
    </ActionButton>
  );
}
