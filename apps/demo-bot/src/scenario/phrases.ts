export interface Phrases {
  welcome(price: number): string;
  offer: string;
  watch: string;
  useLink: string;
  unavailable: string;
  tooSoon(seconds: number): string;
  balance(coins: number): string;
  tooPoor(price: number, coins: number): string;
  bought(coins: number): string;
  rewarded(amount: number, coins: number, event: "rewarded" | "direct_link"): string;
  dailyCap: string;
  notPaid: string;
  unknown: string;
  failed: string;
}

type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

function counted(language: string, forms: Forms): (count: number) => string {
  const rules = new Intl.PluralRules(language);
  const digits = new Intl.NumberFormat(language);
  return (count) => `${digits.format(count)} ${forms[rules.select(count)] ?? forms.other}`;
}

const coins = counted("en", { one: "coin", other: "coins" });
const seconds = counted("en", { one: "second", other: "seconds" });

const en: Phrases = {
  welcome: (price) =>
    `Welcome to Coin Garden! 🌱 A packet of seeds costs ${coins(price)}. Watch a short ad and I will pay you for it: send /bonus.`,
  offer: "Here is an ad for you. Watch it to the end, close it, and the coins are yours.",
  watch: "Watch an ad",
  useLink: "No mini-apps? Use this link",
  unavailable: "I can’t reach the ads right now. Please try again in a moment.",
  tooSoon: (wait) => `You just had one. The next ad is ready in ${seconds(wait)}.`,
  balance: (amount) => `You have ${coins(amount)}.`,
  tooPoor: (price, amount) => `Seeds cost ${coins(price)}, and you have ${coins(amount)}. /bonus helps.`,
  bought: (amount) => `Here are your seeds! 🌻 You have ${coins(amount)} left.`,
  rewarded: (amount, balance, event) =>
    `+${coins(amount)} ${event === "rewarded" ? "for watching" : "for following the link"}. You have ${coins(balance)} now.`,
  dailyCap: "Thank you! That was beyond today’s limit, so there are no coins for it. Come back tomorrow.",
  notPaid: "Thank you! This code was paid before, so there are no coins for it. Send /bonus for a new one.",
  unknown: "I understand /bonus, /balance and /buy.",
  failed: "Something went wrong on my side. Please try again in a moment.",
};

const coinsInRussian = counted("ru", { one: "монета", few: "монеты", many: "монет", other: "монеты" });
const secondsInRussian = counted("ru", { one: "секунду", few: "секунды", many: "секунд", other: "секунды" });

const ru: Phrases = {
  welcome: (price) =>
    `Добро пожаловать в Сад монет! 🌱 Пакетик семян стоит ${coinsInRussian(price)}. Посмотрите короткую рекламу, и я за неё заплачу: отправьте /bonus.`,
  offer: "Вот реклама для вас. Досмотрите её до конца, закройте, и монеты ваши.",
  watch: "Смотреть рекламу",
  useLink: "Нет мини-приложений? Вот ссылка",
  unavailable: "Сейчас я не могу получить рекламу. Попробуйте ещё раз через минуту.",
  tooSoon: (wait) => `Вы только что смотрели. Следующая реклама будет через ${secondsInRussian(wait)}.`,
  balance: (amount) => `У вас ${coinsInRussian(amount)}.`,
  tooPoor: (price, amount) =>
    `Семена стоят ${coinsInRussian(price)}, а у вас ${coinsInRussian(amount)}. Поможет /bonus.`,
  bought: (amount) => `Вот ваши семена! 🌻 Осталось: ${coinsInRussian(amount)}.`,
  rewarded: (amount, balance, event) =>
    `+${coinsInRussian(amount)} ${event === "rewarded" ? "за просмотр" : "за переход по ссылке"}. Теперь у вас ${coinsInRussian(balance)}.`,
  dailyCap: "Спасибо! Дневной лимит уже достигнут, поэтому монет за это нет. Возвращайтесь завтра.",
  notPaid: "Спасибо! Этот код уже оплачен, поэтому монет за него нет. Новый даст /bonus.",
  unknown: "Я понимаю /bonus, /balance и /buy.",
  failed: "У меня что-то сломалось. Попробуйте ещё раз через минуту.",
};

export function phrasesOf(language: string): Phrases {
  return language.toLowerCase().startsWith("ru") ? ru : en;
}
