import type { PageLanguage } from "@intermission/server/page-language";

export interface PageText {
  title: string;
  text: string;
}

export type PageName =
  | "tap-needed"
  | "machine"
  | "unknown-code"
  | "expired"
  | "used"
  | "cooldown"
  | "daily-cap"
  | "no-ad"
  | "address-limit"
  | "too-many-visits"
  | "unavailable";

/** `{when}` is a duration from now, such as "in 5 minutes". */
export const pageTexts: Record<PageLanguage, Record<PageName, PageText>> = {
  en: {
    "tap-needed": {
      title: "One tap to go",
      text: "Tap the button to open the page. It counts only when a person taps it.",
    },
    machine: { title: "A link for one person", text: "Open this link in your browser to see where it leads." },
    "unknown-code": {
      title: "This link leads nowhere",
      text: "Perhaps a part of it got lost on the way. Go back to the bot and take the link from there.",
    },
    expired: {
      title: "This link has expired",
      text: "Links like this one are short-lived. Ask the bot for a new one.",
    },
    used: {
      title: "This link has done its job",
      text: "It counted once, and there is nothing more to see. Ask the bot for a new one.",
    },
    cooldown: { title: "A little too soon", text: "The last ad was just now. This link counts again {when}." },
    "daily-cap": {
      title: "That was all for today",
      text: "You have seen as many ads as there are in a day. The next one is there {when}.",
    },
    "no-ad": {
      title: "No ad right now",
      text: "There is nothing to show at the moment. Your link stays good: try it again a little later.",
    },
    "address-limit": {
      title: "Many visits from your network today",
      text: "So many people came this way today that we cannot tell them apart. The page is open to you, but this visit earns nothing. Your link stays good: try it on another network, or tomorrow.",
    },
    "too-many-visits": {
      title: "Too many visits at once",
      text: "This link was opened very often from your network. It stays good: open it again {when}.",
    },
    unavailable: {
      title: "Please try again",
      text: "Something went wrong on our side. Your link is not used up: open it again in a moment.",
    },
  },
  ru: {
    "tap-needed": {
      title: "Остался один шаг",
      text: "Нажмите кнопку, чтобы открыть страницу. Переход засчитывается, только если его делает человек.",
    },
    machine: {
      title: "Ссылка для одного человека",
      text: "Откройте эту ссылку в браузере, чтобы узнать, куда она ведёт.",
    },
    "unknown-code": {
      title: "Эта ссылка никуда не ведёт",
      text: "Возможно, часть её потерялась по дороге. Вернитесь к боту и откройте ссылку оттуда.",
    },
    expired: { title: "Ссылка устарела", text: "Такие ссылки живут недолго. Попросите у бота новую." },
    used: { title: "Ссылка уже сработала", text: "Она засчитана, больше здесь ничего нет. Попросите у бота новую." },
    cooldown: { title: "Чуть-чуть рано", text: "Реклама была только что. Эта ссылка снова сработает {when}." },
    "daily-cap": {
      title: "На сегодня всё",
      text: "Вы посмотрели всю рекламу, положенную на день. Следующая появится {when}.",
    },
    "no-ad": {
      title: "Сейчас рекламы нет",
      text: "Показать пока нечего. Ваша ссылка остаётся в силе: попробуйте чуть позже.",
    },
    "address-limit": {
      title: "Из вашей сети сегодня много переходов",
      text: "Сегодня их столько, что нам не отличить одного человека от другого. Страница открыта и для вас, но этот переход ничего не принесёт. Ваша ссылка остаётся в силе: попробуйте из другой сети или завтра.",
    },
    "too-many-visits": {
      title: "Слишком много переходов",
      text: "Эту ссылку очень часто открывали из вашей сети. Она остаётся в силе: откройте её снова {when}.",
    },
    unavailable: {
      title: "Попробуйте ещё раз",
      text: "У нас что-то сломалось. Ссылка не потрачена: откройте её снова через минуту.",
    },
  },
};

export const buttonTexts: Record<PageLanguage, { go: string; back: string }> = {
  en: { go: "Open the page", back: "Back to" },
  ru: { go: "Открыть страницу", back: "Вернуться в" },
};

/** "in 5 minutes", rounded up to whole minutes, hours from two hours on. */
export function fromNow(seconds: number, language: PageLanguage): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: "always" });
  if (seconds < 60) return format.format(Math.max(1, Math.ceil(seconds)), "second");
  if (seconds < 2 * 3600) return format.format(Math.ceil(seconds / 60), "minute");
  return format.format(Math.ceil(seconds / 3600), "hour");
}
