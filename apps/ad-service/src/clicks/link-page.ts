import { createHash } from "node:crypto";
import { directionOf, type PageLanguage } from "@intermission/ad-core/page-language";
import type { LinkBot } from "./follow-link.ts";
import { ar } from "./page-texts/ar.ts";
import { de } from "./page-texts/de.ts";
import { en } from "./page-texts/en.ts";
import { es } from "./page-texts/es.ts";
import { fa } from "./page-texts/fa.ts";
import { fr } from "./page-texts/fr.ts";
import { hi } from "./page-texts/hi.ts";
import { id } from "./page-texts/id.ts";
import { it } from "./page-texts/it.ts";
import type { LinkPageTexts, PageName } from "./page-texts/link-page-texts.ts";
import { pt } from "./page-texts/pt.ts";
import { ru } from "./page-texts/ru.ts";
import { tr } from "./page-texts/tr.ts";
import { uk } from "./page-texts/uk.ts";
import { uz } from "./page-texts/uz.ts";
import { vi } from "./page-texts/vi.ts";

export const linkPageTexts: Record<PageLanguage, LinkPageTexts> = {
  en,
  ru,
  uk,
  es,
  pt,
  ar,
  fa,
  hi,
  id,
  tr,
  uz,
  de,
  fr,
  vi,
  it,
};

/** "in 5 minutes", rounded up to whole minutes, hours from two hours on. */
export function fromNow(seconds: number, language: PageLanguage): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: "always" });
  if (seconds < 60) return format.format(Math.max(1, Math.ceil(seconds)), "second");
  if (seconds < 2 * 3600) return format.format(Math.ceil(seconds / 60), "minute");
  return format.format(Math.ceil(seconds / 3600), "hour");
}

export interface LinkPage {
  name: PageName;
  language: PageLanguage;
  bot?: LinkBot | undefined;
  /** For the page with the one-tap button: where it posts, and the token that proves that the page was ours. */
  form?: { action: string; token: string } | undefined;
  /** For the page that leads on without counting: the address. */
  onward?: string | undefined;
  /** For pages that show when to retry. */
  seconds?: number | undefined;
}

const style = `
:root{color-scheme:light dark;--ground:#f4f4f6;--card:#fff;--ink:#15181d;--soft:#5b626d;--accent:#1769e0;--on-accent:#fff}
@media (prefers-color-scheme:dark){:root{--ground:#101317;--card:#1b2027;--ink:#f2f4f7;--soft:#a5adb9;--accent:#6cabff;--on-accent:#06203f}}
*{box-sizing:border-box;margin:0}
body{min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:max(1rem,env(safe-area-inset-top)) 1rem max(1rem,env(safe-area-inset-bottom));background:var(--ground);color:var(--ink);font:1.0625rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:25rem;padding:2rem 1.5rem;border-radius:1.25rem;background:var(--card);text-align:center;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;text-wrap:balance}
p{margin-top:.75rem;color:var(--soft);text-wrap:pretty}
form,.back{margin-top:1.75rem}
button,.back{display:block;width:100%;min-height:3.25rem;padding:.8rem 1rem;border:0;border-radius:.875rem;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
.bot{margin:0 0 .5rem;font-size:.9375rem}
:focus-visible{outline:3px solid var(--ink);outline-offset:3px}
`;

/**
 * Policy of a link's pages: they may only show themselves. There is no `form-action`: browsers apply it also to the
 * redirect that answers the form, and the advertiser chooses where that leads.
 */
export const linkPagePolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; frame-ancestors 'none'`;

/** Renders the page as HTML, without scripts. Every value put into the template is escaped. */
export function linkPage({ name, language, bot, form, onward, seconds }: LinkPage): string {
  const { go, back, pages } = linkPageTexts[language];
  const { title, text } = pages[name];
  const when = seconds === undefined ? "" : fromNow(seconds, language);
  const [beforeBot = "", afterBot = ""] = back.split("{bot}");
  const botLine = bot ? html`<p class="bot">${bot.name}</p>` : "";
  const button = form
    ? html`<form method="post" action="${form.action}"><input type="hidden" name="token" value="${form.token}"><button>${go}</button></form>`
    : "";
  const onwardLink =
    onward === undefined ? "" : html`<a class="back" href="${onward}" rel="nofollow noreferrer">${go}</a>`;
  const link =
    bot?.username && !form && onward === undefined
      ? html`<a class="back" href="https://t.me/${bot.username}">${beforeBot}<bdi>@${bot.username}</bdi>${afterBot}</a>`
      : "";
  return html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<main>
${botLine}
<h1>${title}</h1>
<p>${text.replace("{when}", when)}</p>
${button}${onwardLink}${link}
</main>
</body>
</html>
`.text;
}

class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function html(parts: TemplateStringsArray, ...values: (string | Markup)[]): Markup {
  const texts = values.map((value) => (value instanceof Markup ? value.text : escaped(value)));
  return new Markup(String.raw({ raw: parts }, ...texts));
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
}
