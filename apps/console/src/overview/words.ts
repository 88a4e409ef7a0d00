import { counted, numberText, wordTable } from "../words/word-table.ts";

/** `isMore`: there are more than were counted. */
interface Held {
  count: number;
  isMore: boolean;
}

export const overviewWords = wordTable({
  en: {
    overview: "Overview",
    attention: "Needs attention",
    nothing: "Nothing needs your attention.",
    toReports: "To the reports",
    disabled: (bot: string) => `${bot}: webhooks are disabled, and events are held.`,
    failing: (bot: string) => `${bot}: webhooks fail.`,
    pending: (bot: string) => `${bot}: the webhook address has not passed its test.`,
    heldEvents: (count: number) => counted("en", count, { one: "event waits", other: "events wait" }),
    heldViews: ({ count, isMore }: Held) =>
      isMore
        ? `More than ${counted("en", count, { other: "held views wait for a decision." })}`
        : counted("en", count, {
            one: "held view waits for a decision.",
            other: "held views wait for a decision.",
          }),
    heldClicks: ({ count, isMore }: Held) =>
      isMore
        ? `More than ${counted("en", count, { other: "held clicks wait for a decision." })}`
        : counted("en", count, {
            one: "held click waits for a decision.",
            other: "held clicks wait for a decision.",
          }),
    waitingCreatives: (count: number) =>
      counted("en", count, { one: "creative waits for approval.", other: "creatives wait for approval." }),
    spent: (count: number) =>
      counted("en", count, {
        one: "active campaign has spent its budget.",
        other: "active campaigns have spent their budget.",
      }),
    spentOne: (name: string) => `${name} has spent its budget.`,
    unfunded: (count: number) =>
      counted("en", count, {
        one: "active campaign does not run: its advertiser has no money left.",
        other: "active campaigns do not run: their advertisers have no money left.",
      }),
    ended: (count: number) =>
      counted("en", count, { one: "active campaign is over.", other: "active campaigns are over." }),
    noCampaign: "No campaign is running: nobody sees an ad.",
    noFills: (count: number, share: string) =>
      `${counted("en", count, { one: "request", other: "requests" })} of the last 24 hours got no ad (${share}).`,
    noFillReason: (reason: string, count: string) => `${reason}: ${count}`,
    lastDay: "The last 24 hours",
    againstBefore: "compared with the 24 hours before",
    lastDays: "The last two weeks",
    report: "Open the report",
    requests: "Requests",
    fillRate: "Filled",
    views: "Views",
    clicks: "Clicks",
    spend: "Spend",
    revenue: "Revenue",
    bot: "Bot of the figures",
    delivered: "Webhooks delivered",
    counted: (time: string) => `counted until ${time}`,
    yours: "Your bots and campaigns are in the menu.",
  },
  ru: {
    overview: "Обзор",
    attention: "Требует внимания",
    nothing: "Ничто не требует внимания.",
    toReports: "К отчётам",
    disabled: (bot) => `${bot}: вебхуки отключены, события задержаны.`,
    failing: (bot) => `${bot}: вебхуки не доставляются.`,
    pending: (bot) => `${bot}: адрес вебхука не прошёл проверку.`,
    heldEvents: (count) =>
      counted("ru", count, { one: "событие ждёт", few: "события ждут", many: "событий ждут", other: "события ждут" }),
    heldViews: ({ count, isMore }) =>
      `Задержанные просмотры ждут решения: ${isMore ? "более " : ""}${numberText("ru", count)}.`,
    heldClicks: ({ count, isMore }) =>
      `Задержанные клики ждут решения: ${isMore ? "более " : ""}${numberText("ru", count)}.`,
    waitingCreatives: (count) =>
      counted("ru", count, {
        one: "креатив ждёт одобрения.",
        few: "креатива ждут одобрения.",
        many: "креативов ждут одобрения.",
        other: "креатива ждут одобрения.",
      }),
    spent: (count) =>
      `Бюджет исчерпан: ${counted("ru", count, { one: "кампания", few: "кампании", many: "кампаний", other: "кампании" })}.`,
    spentOne: (name) => `${name}: бюджет исчерпан.`,
    unfunded: (count) =>
      counted("ru", count, {
        one: "активная кампания не идёт: у рекламодателя закончились деньги.",
        few: "активные кампании не идут: у рекламодателей закончились деньги.",
        many: "активных кампаний не идут: у рекламодателей закончились деньги.",
        other: "активной кампании не идут: у рекламодателей закончились деньги.",
      }),
    ended: (count) =>
      `Срок истёк: ${counted("ru", count, { one: "кампания", few: "кампании", many: "кампаний", other: "кампании" })}.`,
    noCampaign: "Ни одна кампания не идёт: рекламы никто не видит.",
    noFills: (count, share) => `За 24 часа без рекламы остались запросы: ${numberText("ru", count)} (${share}).`,
    noFillReason: (reason, count) => `${reason}: ${count}`,
    lastDay: "Последние 24 часа",
    againstBefore: "в сравнении с предыдущими 24 часами",
    lastDays: "Последние две недели",
    report: "Открыть отчёт",
    requests: "Запросы",
    fillRate: "Показано",
    views: "Просмотры",
    clicks: "Клики",
    spend: "Расход",
    revenue: "Доход",
    bot: "Бот, о котором цифры",
    delivered: "Вебхуки доставлены",
    counted: (time) => `учтено до ${time}`,
    yours: "Ваши боты и кампании в меню.",
  },
});
