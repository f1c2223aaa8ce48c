// Mail that is not about alerts: signing in, verification of an address, a test of a channel, a disabled channel.

import type { Channel } from "../alerts/channel.ts";
import type { Instant } from "../instant.ts";
import { channelName } from "./alert-mail.ts";
import { type Language, wordingOf } from "./language.ts";
import { plain, render } from "./layout.ts";
import type { Mail } from "./mail.ts";

type Addressee = { readonly to: string; readonly language: Language };

/** `url` is the link that verifies the address, on PUBLIC_URL. */
export function verificationMail({ to, language }: Addressee, name: string, url: string): Mail {
  const { phrases } = wordingOf(language, null);
  const { subject, purpose, button, copyLink, validity, unexpected } = phrases.verification;
  return render(to, {
    language,
    subject,
    blocks: [
      { type: "paragraph", text: phrases.greeting(plain(name)) },
      { type: "paragraph", text: purpose(plain(to, 320)) },
      { type: "button", text: button, url, copyLink },
      { type: "paragraph", text: validity },
    ],
    footer: [unexpected],
  });
}

/** `url` is the link that signs in, on PUBLIC_URL. The code is shown in two halves. */
export function signInMail({ to, language }: Addressee, name: string, url: string, code: string): Mail {
  const { phrases } = wordingOf(language, null);
  const { subject, purpose, button, copyLink, validity, unexpected, ...words } = phrases.signIn;
  return render(to, {
    language,
    subject,
    blocks: [
      { type: "paragraph", text: phrases.greeting(plain(name)) },
      { type: "paragraph", text: purpose },
      { type: "button", text: button, url, copyLink },
      { type: "paragraph", text: words.code(`${code.slice(0, 4)} ${code.slice(4)}`) },
      { type: "paragraph", text: validity },
    ],
    footer: [unexpected],
  });
}

export function channelTestMail({ to, language }: Addressee, { id, description }: Channel): Mail {
  const { phrases } = wordingOf(language, null);
  return render(to, {
    language,
    subject: phrases.test.subject,
    blocks: [{ type: "paragraph", text: phrases.test.meaning }],
    footer: [phrases.whyOperator(channelName(id, description))],
  });
}

/** Mail to the e-mail channel `receiver` about another channel. */
export function channelDisabledMail(
  { to, language }: Addressee,
  receiver: Channel,
  disabled: Channel,
  reason: string,
  at: Instant,
): Mail {
  const { phrases, time } = wordingOf(language, receiver.quiet_hours?.timezone ?? null);
  const words = phrases.disabled;
  const name = channelName(disabled.id, disabled.description);
  return render(to, {
    language,
    subject: words.subject(name),
    blocks: [
      { type: "paragraph", text: words.meaning },
      {
        type: "entry",
        title: name,
        values: [
          [words.channel, disabled.id],
          [words.destination, plain(destinationOf(disabled), 320)],
          [words.reason, plain(reason, 300)],
          [words.since, time(at)],
        ],
      },
      { type: "paragraph", text: words.enable(disabled.id) },
      { type: "paragraph", text: words.recover(disabled.id) },
    ],
    footer: [phrases.whyOperator(channelName(receiver.id, receiver.description))],
  });
}

/** Leaves out the path and query of a webhook, which may be secret. */
function destinationOf({ url, to }: Channel): string {
  return url === null ? (to ?? "") : (URL.parse(url)?.origin ?? "");
}
