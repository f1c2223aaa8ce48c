// The text and the HTML of a mail, from the same blocks, so that both say the same. The HTML loads nothing, has no scripts and
// no forms, and follows the colours of the reader's device.

import { escapeHtml } from "../text.ts";
import type { Language } from "./language.ts";
import type { Mail } from "./mail.ts";

/** Where a block has text from outside, `plain` has cleaned it; `render` escapes it. */
export type MailBlock =
  | { readonly type: "heading"; readonly text: string }
  | { readonly type: "paragraph"; readonly text: string }
  | { readonly type: "button"; readonly text: string; readonly url: string; readonly copyLink?: string }
  | Entry;

/** One tank or channel, with labelled values. `fill` draws a bar. */
export type Entry = {
  readonly type: "entry";
  readonly title: string;
  readonly fill?: number;
  readonly values: readonly (readonly [label: string, value: string])[];
  readonly link?: { readonly text: string; readonly url: string };
};

type MailContent = {
  readonly language: Language;
  readonly subject: string;
  readonly blocks: readonly MailBlock[];
  /** Why the recipient gets this mail, and how to stop it. */
  readonly footer: readonly string[];
  readonly unsubscribe?: { readonly text: string; readonly url: string };
};

/** A subject is cut off by most programs after less than this. */
const SUBJECT_MAX_LENGTH = 150;

/** Suppresses automatic replies such as vacation notices; bounces are still sent. */
const AUTOMATIC = {
  "Auto-Submitted": "auto-generated",
  Precedence: "list",
  "X-Auto-Response-Suppress": "DR, RN, NRN, OOF, AutoReply",
};

export function render(to: string, content: MailContent): Mail {
  const { language, unsubscribe } = content;
  const oneClick: Record<string, string> =
    unsubscribe === undefined
      ? {}
      : { "List-Unsubscribe": `<${new URL(unsubscribe.url).href}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
  return {
    to,
    subject: subjectOf(content.subject),
    text: textOf(content),
    html: htmlOf(content),
    headers: { ...AUTOMATIC, "Content-Language": language, ...oneClick },
  };
}

/**
 * Text from outside on one line: without control characters and line breaks, without invisible characters, which include
 * those that change the direction of writing, and not too long. The two that join letters in some scripts are kept.
 */
export function plain(text: string, maxLength = 80): string {
  const visible = text
    .toWellFormed()
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  const characters = Array.from(visible);
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join("")}…` : visible;
}

/** A name that looks like an encoded word of a header would be decoded by the reader's program. */
function subjectOf(text: string): string {
  return plain(text, SUBJECT_MAX_LENGTH).replaceAll("=?", "= ?");
}

function textOf({ subject, blocks, footer, unsubscribe }: MailContent): string {
  const end = [...footer, ...(unsubscribe === undefined ? [] : [`${unsubscribe.text}: ${unsubscribe.url}`])];
  return `${[subject, ...blocks.map(textOfBlock), ["-- ", ...end].join("\n")].join("\n\n")}\n`;
}

function textOfBlock(block: MailBlock): string {
  switch (block.type) {
    case "heading":
      return `${block.text}\n${"-".repeat(Math.min(block.text.length, 70))}`;
    case "paragraph":
      return block.text;
    case "button":
      return `${block.text}: ${block.url}`;
    case "entry": {
      const link = block.link === undefined ? [] : [`  ${block.link.text}: ${block.link.url}`];
      return [block.title, ...block.values.map(([label, value]) => `  ${label}: ${value}`), ...link].join("\n");
    }
  }
}

const FONT = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;";
const STYLE = {
  page: `margin:0;padding:0;background-color:#f3f4f6;color:#1f2937;${FONT}font-size:16px;line-height:1.5;`,
  column: "max-width:600px;margin:0 auto;padding:24px 16px;",
  title: "margin:0 0 16px;font-size:22px;line-height:1.3;font-weight:600;",
  heading: "margin:32px 0 12px;font-size:18px;line-height:1.3;font-weight:600;",
  paragraph: "margin:0 0 16px;",
  card: "margin:0 0 16px;padding:16px;background-color:#ffffff;border:1px solid #d1d5db;border-radius:8px;",
  name: "margin:0 0 8px;font-size:17px;line-height:1.3;font-weight:600;overflow-wrap:anywhere;",
  track: "height:8px;margin:0 0 8px;background-color:#e5e7eb;border-radius:4px;",
  values: "width:100%;border-collapse:collapse;",
  label: "width:36%;padding:3px 12px 3px 0;text-align:left;vertical-align:top;font-weight:normal;color:#4b5563;",
  value: "padding:3px 0;vertical-align:top;overflow-wrap:anywhere;",
  button:
    "display:inline-block;padding:12px 20px;background-color:#1d4ed8;color:#ffffff;border-radius:6px;font-weight:600;text-decoration:none;",
  link: "color:#1d4ed8;",
  footer: "margin:32px 0 0;padding:16px 0 0;border-top:1px solid #d1d5db;font-size:13px;color:#4b5563;",
} as const;

/** Programs that remove this show light colours. */
const DARK = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page{background-color:#111827!important;color:#f3f4f6!important}
.card{background-color:#1f2937!important;border-color:#4b5563!important}
.track{background-color:#4b5563!important}
.muted{color:#d1d5db!important;border-color:#4b5563!important}
.link{color:#93c5fd!important}
}`;

function htmlOf({ language, subject, blocks, footer, unsubscribe }: MailContent): string {
  const end = footer.map((text) => `<p style="margin:0 0 8px;">${escapeHtml(text)}</p>`);
  if (unsubscribe !== undefined) end.push(`<p style="margin:0;">${linkTo(unsubscribe)}</p>`);
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>${DARK}</style>
</head>
<body class="page" style="${STYLE.page}">
<div class="page" role="article" aria-label="${escapeHtml(subject)}" style="${STYLE.column}">
<h1 dir="auto" style="${STYLE.title}">${escapeHtml(subject)}</h1>
${blocks.map(htmlOfBlock).join("\n")}
<div class="muted" style="${STYLE.footer}">
${end.join("\n")}
</div>
</div>
</body>
</html>
`;
}

function htmlOfBlock(block: MailBlock): string {
  switch (block.type) {
    case "heading":
      return `<h2 style="${STYLE.heading}">${escapeHtml(block.text)}</h2>`;
    case "paragraph":
      return `<p dir="auto" style="${STYLE.paragraph}">${escapeHtml(block.text)}</p>`;
    case "button": {
      const button = `<p style="${STYLE.paragraph}"><a href="${escapeHtml(block.url)}" style="${STYLE.button}">${escapeHtml(block.text)}</a></p>`;
      if (block.copyLink === undefined) return button;
      const link = `<span style="overflow-wrap:anywhere;">${linkTo({ text: block.url, url: block.url })}</span>`;
      return `${button}\n<p style="${STYLE.paragraph}">${escapeHtml(block.copyLink)}<br>${link}</p>`;
    }
    case "entry":
      return entryHtml(block);
  }
}

function entryHtml({ title, fill, values, link }: Entry): string {
  const rows = values.map(
    ([label, value]) =>
      `<tr><th scope="row" class="muted" style="${STYLE.label}">${escapeHtml(label)}</th><td dir="auto" style="${STYLE.value}">${escapeHtml(value)}</td></tr>`,
  );
  return [
    `<div class="card" style="${STYLE.card}">`,
    `<h3 dir="auto" style="${STYLE.name}">${escapeHtml(title)}</h3>`,
    ...(fill === undefined ? [] : [bar(fill)]),
    `<table style="${STYLE.values}">`,
    ...rows,
    "</table>",
    ...(link === undefined ? [] : [`<p style="margin:8px 0 0;">${linkTo(link)}</p>`]),
    "</div>",
  ].join("\n");
}

/** Says nothing that the values do not say. */
function bar(fill: number): string {
  const width = Math.min(Math.max(Math.round(fill), 1), 100);
  const level = `<div style="width:${width}%;height:8px;background-color:#d97706;border-radius:4px;font-size:0;line-height:0;"></div>`;
  return `<div class="track" aria-hidden="true" style="${STYLE.track}">${level}</div>`;
}

function linkTo({ text, url }: { readonly text: string; readonly url: string }): string {
  return `<a class="link" href="${escapeHtml(url)}" style="${STYLE.link}">${escapeHtml(text)}</a>`;
}
