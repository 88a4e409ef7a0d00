import { directionOf, type PageLanguage, pageLanguage } from "@intermission/ad-core/page-language";
import { html, htmlPage, htmlPagePolicy } from "@intermission/server/html-page";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { LinkBot } from "./follow-direct-link.ts";
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

/**
 * Policy of a link's pages: they may only show themselves. There is no `form-action`: browsers apply it also to the
 * redirect that answers the form, and the advertiser chooses where that leads.
 */
export const linkPagePolicy = `${htmlPagePolicy}; frame-ancestors 'none'`;

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
  return htmlPage({
    language,
    direction: directionOf(language),
    title,
    card: html`${botLine}
<h1>${title}</h1>
<p>${text.replace("{when}", when)}</p>
${button}${onwardLink}${link}`,
  });
}

/** Answers with the page in the visitor's language. */
export function sendLinkPage(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  page: Omit<LinkPage, "language">,
) {
  const language = pageLanguage(request.headers["accept-language"]);
  reply.headers({ "content-security-policy": linkPagePolicy, "content-language": language, vary: "accept-language" });
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .send(linkPage({ ...page, language }));
}
