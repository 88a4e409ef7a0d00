import { directionOf, pageLanguage } from "@intermission/ad-core/page-language";
import { telegramId } from "@intermission/ad-core/wire-fields";
import type { Bot } from "@intermission/operator-api/bots";
import { html, htmlPage, htmlPagePolicy, Markup } from "@intermission/server/html-page";
import type { FastifyInstance } from "fastify";
import { type Bots, findBot } from "../bots/bots.ts";
import { botLink } from "./built-page.ts";
import { sendFriendlyPage, setPageHeaders } from "./friendly-page.ts";
import { settingsTexts } from "./settings-page-texts.ts";

type SettingsBot = Pick<Bot, "name" | "username" | "privacyUrl">;

/**
 * `GET /app/{bot_id}/settings`, which the settings button of Telegram's client opens: what is stored of a user, how it is erased,
 * and the privacy policy.
 */
export function settingsRoute(scope: FastifyInstance, { bots }: { bots: Bots }): void {
  scope.get<{ Params: { botId: string } }>("/app/:botId/settings", async (request, reply) => {
    const { botId } = request.params;
    const bot = telegramId.safeParse(botId).success ? await findBot(bots, botId) : undefined;
    if (!bot) return sendFriendlyPage(request, reply, 404, "unknown-bot");
    setPageHeaders(reply, `${htmlPagePolicy}; form-action 'none'`);
    reply.header("vary", "accept-language").type("text/html; charset=utf-8");
    return reply.send(settingsPage(bot, request.headers["accept-language"]));
  });
}

/** In the browser's most preferred language among ours. */
export function settingsPage(bot: SettingsBot, acceptLanguage: string | undefined): string {
  const language = pageLanguage(acceptLanguage);
  const { title, stored, suspicious, erasure, policy, chat } = settingsTexts[language];
  const { name, privacyUrl } = bot;
  const links = [
    [privacyUrl, policy],
    [botLink(bot), chat],
  ] as const;
  const shown = links.flatMap(([address, label]) =>
    address ? [html`\n<a class="back" href="${address}">${label}</a>`] : [],
  );
  return htmlPage({
    language,
    direction: directionOf(language),
    title,
    card: html`<p class="bot"><bdi>${name}</bdi></p>
<h1>${title}</h1>
<p>${stored}</p>
<p>${suspicious}</p>
<p>${erasure}</p>${new Markup(shown.map(({ text }) => text).join(""))}`,
  });
}
