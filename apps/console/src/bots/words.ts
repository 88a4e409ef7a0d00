import { counted, type Language, wordTable } from "../words/word-table.ts";

export const botWords = wordTable({
  en: {
    bots: "Bots",
    count: (count: number) => counted("en", count, { one: "bot", other: "bots" }),
    bot: "Bot",
    username: "Username",
    category: "Category",
    state: "State",
    active: "active",
    suspended: "suspended",
    endpoint: "Webhooks",
    waiting: "Waiting",
    none: "There is no bot yet. Add one with: pnpm ads bots add",
    find: "Find a bot",
    noMatch: "No bot matches this search.",
  },
  ru: {
    bots: "Боты",
    count: (count) => counted("ru", count, { one: "бот", few: "бота", many: "ботов", other: "бота" }),
    bot: "Бот",
    username: "Имя",
    category: "Категория",
    state: "Состояние",
    active: "работает",
    suspended: "остановлен",
    endpoint: "Вебхуки",
    waiting: "В очереди",
    none: "Ботов ещё нет. Добавьте первого: pnpm ads bots add",
    find: "Найти бота",
    noMatch: "Ни один бот не подходит.",
  },
});

export const endpointWords = {
  en: { active: "delivering", pending: "not tested", disabled: "disabled", failing: "failing", none: "no address" },
  ru: {
    active: "доставляются",
    pending: "не проверен",
    disabled: "отключён",
    failing: "не отвечает",
    none: "нет адреса",
  },
} satisfies Record<Language, Record<"active" | "pending" | "disabled" | "failing" | "none", string>>;
