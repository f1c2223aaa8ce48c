// What the pages say that links in mail lead to.

import type { Language } from "../../domain/mail/language.ts";

type PageText = { readonly title: string; readonly text: string; readonly button?: string };

const PAGE_NAMES = [
  "verify",
  "verified",
  "verificationInvalid",
  "subscribed",
  "unsubscribed",
  "resubscribed",
  "subscriptionInvalid",
  "unavailable",
] as const;
export type PageName = (typeof PAGE_NAMES)[number];

export const PAGES: Readonly<Record<Language, Readonly<Record<PageName, PageText>>>> = {
  en: {
    verify: {
      title: "Confirm your e-mail address",
      text: "After you confirm, e-mails about your tanks can be sent to this address.",
      button: "Confirm address",
    },
    verified: {
      title: "Your address is confirmed",
      text: "E-mails about your tanks can now be sent to this address. You can close this page.",
    },
    verificationInvalid: {
      title: "This link is not valid",
      text: "It may have expired, or a newer one was sent. If you have confirmed your address already, nothing more needs to be done. Otherwise please ask your supplier for a new link.",
    },
    subscribed: {
      title: "Unsubscribe?",
      text: "You will get no more e-mails about your tanks, not even when one of them is low.",
      button: "Unsubscribe",
    },
    unsubscribed: {
      title: "You are unsubscribed",
      text: "You get no more e-mails about your tanks. You can change your mind here at any time.",
      button: "Subscribe again",
    },
    resubscribed: {
      title: "You are subscribed again",
      text: "E-mails about your tanks can be sent to you again.",
      button: "Unsubscribe",
    },
    subscriptionInvalid: {
      title: "This link is not valid",
      text: "Please use the link in the newest e-mail that you have received.",
    },
    unavailable: { title: "Please try again later", text: "This does not work at the moment. Nothing was changed." },
  },
  de: {
    verify: {
      title: "E-Mail-Adresse bestätigen",
      text: "Nach der Bestätigung können E-Mails zu Ihren Tanks an diese Adresse gesendet werden.",
      button: "Adresse bestätigen",
    },
    verified: {
      title: "Ihre Adresse ist bestätigt",
      text: "E-Mails zu Ihren Tanks können jetzt an diese Adresse gesendet werden. Sie können diese Seite schließen.",
    },
    verificationInvalid: {
      title: "Dieser Link ist nicht gültig",
      text: "Er ist abgelaufen, oder es wurde ein neuerer verschickt. Wenn Sie Ihre Adresse schon bestätigt haben, ist nichts weiter zu tun. Andernfalls bitten Sie Ihren Lieferanten um einen neuen Link.",
    },
    subscribed: {
      title: "E-Mails abbestellen?",
      text: "Sie erhalten keine E-Mails mehr zu Ihren Tanks, auch nicht bei niedrigem Füllstand.",
      button: "Abbestellen",
    },
    unsubscribed: {
      title: "E-Mails abbestellt",
      text: "Sie erhalten keine E-Mails mehr zu Ihren Tanks. Sie können sie hier jederzeit wieder abonnieren.",
      button: "Wieder abonnieren",
    },
    resubscribed: {
      title: "E-Mails wieder abonniert",
      text: "E-Mails zu Ihren Tanks können Ihnen wieder gesendet werden.",
      button: "Abbestellen",
    },
    subscriptionInvalid: {
      title: "Dieser Link ist nicht gültig",
      text: "Bitte benutzen Sie den Link in der neuesten E-Mail, die Sie erhalten haben.",
    },
    unavailable: {
      title: "Bitte versuchen Sie es später noch einmal",
      text: "Das ist im Moment nicht möglich. Es wurde nichts geändert.",
    },
  },
};
