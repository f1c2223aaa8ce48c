// Mail that is not about alerts: signing in, verification of an address, a test of a channel, a disabled channel.

import type { Channel } from "../alerts/channel.ts";
import { maskedUrl } from "../alerts/webhook-url.ts";
import type { Instant } from "../instant.ts";
import { channelName, whyChannel } from "./alert-mail.ts";
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

export function channelTestMail({ id, to, description }: Channel): Mail {
  const text = "This is a test. Mail about alerts will reach you at this address. Nothing needs to be done.";
  return render(to ?? "", {
    language: "en",
    subject: "Test of a notification channel",
    blocks: [{ type: "paragraph", text }],
    footer: [whyChannel(id, description)],
  });
}

/** Mail to the e-mail channel `receiver` about another channel. */
export function channelDisabledMail(receiver: Channel, disabled: Channel, reason: string, at: Instant): Mail {
  const { time } = wordingOf("en", receiver.quiet_hours?.timezone ?? null);
  const { id } = disabled;
  const name = channelName(id, disabled.description);
  return render(receiver.to ?? "", {
    language: "en",
    subject: `Notification channel disabled: ${name}`,
    blocks: [
      {
        type: "paragraph",
        text: "A notification channel was disabled. Nothing is sent to it until you enable it again.",
      },
      {
        type: "entry",
        title: name,
        values: [
          ["Channel", id],
          ["Destination", plain(shownAddress(disabled), 320)],
          ["Reason", plain(reason, 300)],
          ["Disabled", time(at)],
        ],
      },
      {
        type: "paragraph",
        text: `When the cause is fixed, enable it again: under Channels in the dashboard, or with npx tank-monitor channel update ${id} --state active. What failed before can then be sent again.`,
      },
      {
        type: "paragraph",
        text: "What happens while the channel is disabled is not sent later. Programs can read it from the feed: GET /insight/v1/events.",
      },
    ],
    footer: [whyChannel(receiver.id, receiver.description)],
  });
}

const shownAddress = ({ url, to }: Channel): string => (url === null ? (to ?? "") : maskedUrl(url));
