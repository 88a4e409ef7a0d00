import { countWords, waitWords } from "./count-words.ts";
import type { Phrases } from "./phrases.ts";

const coins = countWords("ru", { one: "монета", few: "монеты", many: "монет", other: "монеты" });
const coinsPaid = countWords("ru", { one: "монету", few: "монеты", many: "монет", other: "монеты" });
const wait = waitWords({
  seconds: countWords("ru", { one: "секунду", few: "секунды", many: "секунд", other: "секунды" }),
  minutes: countWords("ru", { one: "минуту", few: "минуты", many: "минут", other: "минуты" }),
  hours: countWords("ru", { one: "час", few: "часа", many: "часов", other: "часа" }),
});

const days = countWords("ru", { one: "день", few: "дня", many: "дней", other: "дня" });
const deeds = { rewarded: "за просмотр", direct_link: "за переход по ссылке", task: "за вступление" };

export const russian: Phrases = {
  commands: { "/bonus": "Заработать", "/tasks": "Вступить в канал", "/balance": "Баланс", "/buy": "Купить семена" },
  welcome: (price) =>
    `Добро пожаловать в Сад монет! Пакетик семян стоит ${coinsPaid(price)}. Пока нет монет? Отправьте /bonus, посмотрите короткую рекламу, и я за неё заплачу.`,
  offer: "Вот реклама для вас. Досмотрите её до конца, закройте, и монеты ваши.",
  watch: "Смотреть рекламу",
  useLink: "Не открывается? Вот ссылка",
  tasks: (count) =>
    `Реклама: вступите в канал, и монеты сразу ваши. Если выйти из него раньше чем через ${days(count)}, я их заберу.`,
  noTask: "Сейчас для вас нет канала.",
  noAdNow: (seconds) =>
    seconds === undefined
      ? "Сейчас я не могу получить рекламу. Попробуйте ещё раз чуть позже."
      : `Сейчас я не могу получить рекламу. Попробуйте ещё раз через ${wait(seconds)}.`,
  tooSoon: (seconds) => `Вы только что смотрели. Следующая реклама будет через ${wait(seconds)}.`,
  balance: (amount) => `У вас ${coins(amount)}.`,
  tooPoor: (price, amount) =>
    `Семена стоят ${coinsPaid(price)}, а у вас ${coins(amount)}. Заработать можно на рекламе: /bonus`,
  bought: (amount) => `Вот ваши семена! Осталось: ${coins(amount)}.`,
  rewarded: (amount, balance, event) => `+${coins(amount)} ${deeds[event]}. Теперь у вас ${coins(balance)}.`,
  takenBack: (amount, balance) => `−${coins(amount)}: вы слишком рано вышли из канала. Теперь у вас ${coins(balance)}.`,
  unpaid: {
    "daily-cap": "Спасибо! Дневной лимит уже достигнут, поэтому монет за это нет. Возвращайтесь завтра.",
    "code-already-paid":
      "Спасибо! Реклама и её ссылка оплачиваются вместе один раз, и за эту я уже заплатил. Новую даст /bonus.",
    "code-of-another-user": "Это была чужая реклама, поэтому монет за неё нет. Свою можно получить по /bonus.",
  },
  unknown: "Я понимаю /bonus, /tasks, /balance и /buy.",
  failed: "У меня что-то сломалось. Попробуйте ещё раз чуть позже.",
  purchaseUnclear: "Магазин не ответил. Прежде чем пробовать ещё раз, посмотрите баланс.",
};
