import { wordTable } from "../words/word-table.ts";

export const finderWords = wordTable({
  en: {
    find: "Find",
    placeholder: "A bot, a campaign, an id, or what to do",
    nothing: "Nothing is found.",
    pages: "Pages",
    bots: "Bots",
    campaigns: "Campaigns",
    actions: "Actions",
    newCampaign: "New campaign",
    pauseAll: (advertiser: string) => `Pause everything of ${advertiser}`,
    whyNoAd: (bot: string) => `Why does ${bot} show no ad?`,
    delivery: (id: string) => `Webhook ${id}`,
    whatHappened: (id: string) => `What happened to ${id}?`,
    noDelivery: "There is no event with this id.",
  },
  ru: {
    find: "Найти",
    placeholder: "Бот, кампания, id или действие",
    nothing: "Ничего не найдено.",
    pages: "Страницы",
    bots: "Боты",
    campaigns: "Кампании",
    actions: "Действия",
    newCampaign: "Новая кампания",
    pauseAll: (advertiser) => `Приостановить всё: ${advertiser}`,
    whyNoAd: (bot) => `Почему ${bot} не показывает рекламу?`,
    delivery: (id) => `Вебхук ${id}`,
    whatHappened: (id) => `Что произошло: ${id}?`,
    noDelivery: "События с таким id нет.",
  },
});
