// An HTML page with a text and at most one button. It has no scripts and loads nothing.

import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { LANGUAGES, type Language } from "../../domain/mail/language.ts";
import { escapeHtml } from "../../domain/text.ts";
import { PAGES, type PageName } from "./phrases.ts";

const STYLE = `
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  background: light-dark(#eef2f6, #12171d); color: light-dark(#1b2733, #e6edf3);
  font: 1.0625rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { width: 100%; max-width: 28rem; padding: 2rem 1.5rem; border-radius: 0.75rem; background: light-dark(#fff, #1c242d);
  box-shadow: 0 1px 4px light-dark(#1b273326, #0006); overflow-wrap: anywhere; }
h1 { margin: 0 0 0.75rem; font-size: 1.375rem; line-height: 1.3; }
p { margin: 0; }
form { margin: 1.5rem 0 0; }
button { width: 100%; min-height: 3rem; padding: 0.5rem 1rem; border: 0; border-radius: 0.5rem; background: #1f5fa8; color: #fff;
  font: inherit; font-weight: 600; cursor: pointer; }
button:hover { background: #194f8c; }
button:focus-visible { outline: 3px solid light-dark(#1b2733, #e6edf3); outline-offset: 2px; }
`;

const STYLE_HASH = hash("sha256", STYLE, "base64");
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  // The address of the page is a secret of its reader.
  "referrer-policy": "no-referrer",
};

/** `action`: what the button sends; the page is requested again, with the same address. */
export type LinkPage = { readonly name: PageName; readonly status?: number; readonly action?: string };

export function sendPage(request: FastifyRequest, reply: FastifyReply, { name, status = 200, action }: LinkPage): FastifyReply {
  const language = acceptedLanguage(request.headers["accept-language"]);
  const vary = reply.getHeader("vary");
  reply.header("vary", vary === undefined ? "Accept-Language" : `${vary}, Accept-Language`);
  return reply
    .code(status)
    .headers(HEADERS)
    .send(pageHtml(name, language, action));
}

function pageHtml(name: PageName, language: Language, action: string | undefined): string {
  const { title, text, button } = PAGES[language][name];
  const form =
    button === undefined || action === undefined
      ? ""
      : `\n<form method="post"><button name="action" value="${escapeHtml(action)}">${escapeHtml(button)}</button></form>`;
  return `<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>${form}
</main>
</body>
</html>
`;
}

/** More than any browser sends: each takes time. */
const MAX_RANGES = 20;

/** The first one, which is English, where none is preferred. */
function acceptedLanguage(header = ""): Language {
  const ranges = header.split(",", MAX_RANGES).map((part) => {
    // Not by a regular expression: over many spaces, that takes the square of their number.
    const [tag = "", weight = ""] = part.split(";", 2).map((item) => item.trim().toLowerCase());
    return { tag, quality: weight.startsWith("q=") ? Number(weight.slice(2)) || 0 : 1 };
  });
  const qualityOf = (language: Language): number =>
    Math.max(0, ...ranges.filter(({ tag }) => tag.split("-")[0] === language).map(({ quality }) => quality));
  const [first] = LANGUAGES.toSorted((a, b) => qualityOf(b) - qualityOf(a));
  return first ?? "en";
}
