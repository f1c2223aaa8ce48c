import type { Phrases } from "../phrases.ts";

const tanks = (count: number, shown: string): string => (count === 1 ? "1 Tank" : `${shown} Tanks`);
const have = (count: number): string => (count === 1 ? "hat" : "haben");
const these = (count: number): string => (count === 1 ? "Dieser Tank" : "Diese Tanks");

export const de: Phrases = {
  dates: "de-DE",
  numbers: "de-DE",

  subject: {
    low: {
      opened: (name, percent) => `Füllstand niedrig, ${percent}: ${name}`,
      reminder: (name, percent) => `Erinnerung: Füllstand weiterhin niedrig, ${percent}: ${name}`,
      recovered: (name, percent) => `Füllstand nicht mehr niedrig, ${percent}: ${name}`,
    },
    runs_low_soon: {
      opened: (name, percent) => `Füllstand bald niedrig, ${percent}: ${name}`,
      reminder: (name, percent) => `Erinnerung: Füllstand bald niedrig, ${percent}: ${name}`,
      recovered: (name, percent) => `Füllstand voraussichtlich nicht mehr bald niedrig, ${percent}: ${name}`,
    },
    leak: {
      opened: (name) => `Mögliches Leck: ${name}`,
      reminder: (name) => `Erinnerung: mögliches Leck: ${name}`,
      recovered: (name) => `Verbrauch wieder normal: ${name}`,
    },
    silent: {
      opened: (name) => `Keine Messwerte: ${name}`,
      reminder: (name) => `Erinnerung: weiterhin keine Messwerte: ${name}`,
      recovered: (name) => `Wieder Messwerte: ${name}`,
    },
  },
  count: {
    low: {
      opened: (count, shown) => `${tanks(count, shown)} mit niedrigem Füllstand`,
      reminder: (count, shown) => `${tanks(count, shown)} mit weiterhin niedrigem Füllstand`,
      recovered: (count, shown) => `${tanks(count, shown)} wieder über der Warnschwelle`,
    },
    runs_low_soon: {
      opened: (count, shown) => `${tanks(count, shown)} voraussichtlich bald mit niedrigem Füllstand`,
      reminder: (count, shown) => `${tanks(count, shown)} weiterhin voraussichtlich bald mit niedrigem Füllstand`,
      recovered: (count, shown) => `${tanks(count, shown)} voraussichtlich nicht mehr bald mit niedrigem Füllstand`,
    },
    leak: {
      opened: (count, shown) => (count === 1 ? "1 mögliches Leck" : `${shown} mögliche Lecks`),
      reminder: (count, shown) => (count === 1 ? "Weiterhin 1 mögliches Leck" : `Weiterhin ${shown} mögliche Lecks`),
      recovered: (count, shown) => `${tanks(count, shown)} wieder mit normalem Verbrauch`,
    },
    silent: {
      opened: (count, shown) => `${tanks(count, shown)} ohne Messwerte`,
      reminder: (count, shown) => `${tanks(count, shown)} weiterhin ohne Messwerte`,
      recovered: (count, shown) => `${tanks(count, shown)} wieder mit Messwerten`,
    },
  },
  explanation: {
    low: {
      opened: (count) =>
        `${these(count)} ${have(count)} die Warnschwelle erreicht oder unterschritten. Eine Lieferung könnte bald nötig sein.`,
      reminder: (count) =>
        `${these(count)} ${have(count)} die Warnschwelle erreicht oder unterschritten und ${count === 1 ? "liegt" : "liegen"} noch nicht wieder deutlich darüber. Ist eine Lieferung unterwegs, ist nichts zu tun.`,
      recovered: (count) =>
        `${these(count)} ${count === 1 ? "liegt" : "liegen"} wieder über der Warnschwelle. Es ist nichts zu tun.`,
    },
    runs_low_soon: {
      opened: (count) =>
        `${these(count)} ${count === 1 ? "wird" : "werden"} die Warnschwelle voraussichtlich in wenigen Tagen erreichen. Bitte planen Sie eine Lieferung.`,
      reminder: (count) =>
        `${these(count)} ${count === 1 ? "wird" : "werden"} die Warnschwelle weiterhin voraussichtlich in wenigen Tagen erreichen. Ist eine Lieferung unterwegs, ist nichts zu tun.`,
      recovered: (count) =>
        `${these(count)} ${count === 1 ? "wird" : "werden"} die Warnschwelle voraussichtlich nicht mehr bald erreichen. Es ist nichts zu tun.`,
    },
    leak: {
      opened: (count) =>
        `${these(count)} ${have(count)} weit mehr verloren, als für die Jahreszeit üblich ist. Bitte prüfen Sie, ob es ein Leck, einen Diebstahl oder einen ungewöhnlichen Verbrauch gibt.`,
      reminder: (count) =>
        `${these(count)} ${have(count)} weit mehr verloren, als für die Jahreszeit üblich ist. Die ${count === 1 ? "Warnung wurde" : "Warnungen wurden"} noch nicht bestätigt.`,
      recovered: (count) =>
        `Der Verbrauch ${count === 1 ? "dieses Tanks" : "dieser Tanks"} ist seit einigen Tagen wieder normal.`,
    },
    silent: {
      opened: (count) =>
        `${these(count)} ${have(count)} länger als üblich keinen Messwert gesendet. Bitte prüfen Sie Gerät, Batterie und Netzverbindung.`,
      reminder: (count) => `${these(count)} ${have(count)} weiterhin keinen Messwert gesendet.`,
      recovered: (count) => `${these(count)} ${count === 1 ? "sendet" : "senden"} wieder Messwerte.`,
    },
  },
  mostUrgent: (count, shown) => (count === 1 ? "Der dringendste:" : `Die ${shown} dringendsten:`),
  more: (count, shown) =>
    count === 1 ? "1 weiterer ist hier nicht aufgeführt." : `${shown} weitere sind hier nicht aufgeführt.`,
  notListed: "Hier nicht aufgeführt.",

  greeting: (name) => `Guten Tag ${name},`,
  where: "Standort",
  reference: "Kennung",
  fill: "Füllstand",
  lastFill: "Letzter Füllstand",
  volumeOf: (percent, volume, capacity) => `${percent} (${volume}, Fassungsvermögen ${capacity})`,
  threshold: "Warnschwelle",
  lowSince: "Niedrig seit",
  lowFromTo: "War niedrig",
  fromTo: (from, to) => `${from} bis ${to}`,
  measured: "Gemessen",
  lastReading: "Letzter Messwert",
  detected: "Festgestellt",
  runsLow: "Voraussichtlich niedrig",
  runsLowAbout: (date) => `etwa am ${date}`,
  excess: "Mehrverbrauch",
  excessSince: (percent, volume, since) => `${percent} (${volume}) am Tag seit ${since}`,
  loss: "Plötzlicher Verlust",
  lossAt: (percent, volume, at) => `${percent} (${volume}), ${at}`,
  openTank: "Tank öffnen",

  whyCustomer: "Sie erhalten diese E-Mail, weil Warnungen zu Ihren Tanks an diese Adresse gesendet werden.",
  unsubscribe: "Diese E-Mails abbestellen",

  verification: {
    subject: "Bitte bestätigen Sie Ihre E-Mail-Adresse",
    purpose: (address) =>
      `Bitte bestätigen Sie, dass ${address} Ihre Adresse ist. Danach können E-Mails zu Ihren Tanks an sie gesendet werden.`,
    button: "Adresse bestätigen",
    copyLink: "Oder öffnen Sie diesen Link:",
    validity: "Der Link ist 7 Tage gültig und kann einmal verwendet werden.",
    unexpected: "Wenn Sie diese E-Mail nicht erwartet haben, können Sie sie ignorieren: Es wird Ihnen nichts weiter gesendet.",
  },
  signIn: {
    subject: "Ihr Link zur Anmeldung",
    purpose: "Öffnen Sie diesen Link, um Ihre Tanks zu sehen:",
    button: "Anmelden",
    copyLink: "Oder öffnen Sie diesen Link:",
    code: (code) => `Oder geben Sie diesen Code auf der Seite ein, auf der Sie die E-Mail angefordert haben: ${code}`,
    validity:
      "Link und Code sind 10 Minuten gültig und können nur einmal verwendet werden. Wir werden Sie niemals danach fragen.",
    unexpected: "Wenn Sie diese E-Mail nicht angefordert haben, können Sie sie ignorieren: Ohne sie kann sich niemand anmelden.",
  },
};
