import { pageLanguage } from "@intermission/server/page-language";

export type FriendlyPage = "unknown-address" | "no-bot" | "unknown-bot" | "not-built" | "unavailable";

const texts = {
  "unknown-address": {
    en: { title: "There is nothing here", text: "Go back to the bot's chat and open the app from there." },
    ru: { title: "Здесь ничего нет", text: "Вернитесь в чат с ботом и откройте приложение оттуда." },
  },
  "no-bot": {
    en: {
      title: "This address names no bot",
      text: "Go back to the bot's chat and open the app from there. The bot's owner: end the address with the bot's id.",
    },
    ru: {
      title: "В этом адресе не указан бот",
      text: "Вернитесь в чат с ботом и откройте приложение оттуда. Владельцу бота: допишите в конец адреса id бота.",
    },
  },
  "unknown-bot": {
    en: {
      title: "Nothing is shown here",
      text: "This address belongs to no bot. Go back to the bot's chat and open the app from there.",
    },
    ru: {
      title: "Здесь ничего не показывают",
      text: "Этот адрес не принадлежит ни одному боту. Вернитесь в чат с ботом и откройте приложение оттуда.",
    },
  },
  "not-built": {
    en: { title: "The app is not ready yet", text: "Please come back in a few minutes." },
    ru: { title: "Приложение ещё не готово", text: "Загляните через несколько минут." },
  },
  unavailable: {
    en: { title: "The app cannot be opened now", text: "Please try again in a minute." },
    ru: { title: "Приложение сейчас не открывается", text: "Попробуйте ещё раз через минуту." },
  },
} satisfies Record<FriendlyPage, Record<"en" | "ru", { title: string; text: string }>>;

/** For the operator of the service. */
const hints: Partial<Record<FriendlyPage, string>> = {
  "no-bot": "/app/&lt;bot id&gt;",
  "not-built": "npm run build",
};

/** A complete HTML page without scripts, in the browser's most preferred language among ours. */
export function friendlyPage(page: FriendlyPage, acceptLanguage: string | undefined): string {
  const language = pageLanguage(acceptLanguage);
  const { title, text } = texts[page][language];
  const hint = hints[page];
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<main style="max-width:32rem;margin:20vh auto 0;padding:0 1.5rem;font:1.0625rem/1.5 system-ui,sans-serif">
<h1 style="font-size:1.5rem">${title}</h1>
<p>${text}</p>${hint ? `\n<p><code>${hint}</code></p>` : ""}
</main>
</html>
`;
}
