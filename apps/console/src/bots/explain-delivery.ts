import type { ShownDelivery } from "@intermission/operator-api/deliveries";
import type { Language } from "../words/word-table.ts";

type Facts = Pick<
  ShownDelivery,
  "state" | "isTest" | "blockedReason" | "endReason" | "notBefore" | "dueAt" | "resumeState"
>;

interface Texts {
  readonly delivered: string;
  readonly sending: string;
  readonly held: string;
  readonly test: string;
  readonly unknown: string;
  readonly again: string;
  readonly replay: string;
  readonly scheduled: string;
  readonly due: (time: string) => string;
  readonly rests: (time: string) => string;
  readonly blocked: Readonly<Record<NonNullable<Facts["blockedReason"]>, string>>;
  readonly ended: Readonly<Record<NonNullable<Facts["endReason"]>, string>>;
}

const texts: Record<Language, Texts> = {
  en: {
    delivered: "It was answered 2xx.",
    sending: "An attempt is under way.",
    held: "It was held, and is sent shortly.",
    test: "A test is sent once; send another one for a new answer.",
    unknown:
      "It is unknown whether it arrived, and the bot's webhooks are sent at most once: look whether the receiver has it before you send it again.",
    again: "It can be sent again.",
    replay: "It is sent again; if that fails, its state is as before.",
    scheduled: "The next attempt is scheduled.",
    due: (time) => `The next attempt is due at ${time}.`,
    rests: (time) => `The address failed, so nothing is sent to it until ${time}.`,
    blocked: {
      "no-endpoint": "The bot has no webhook address.",
      pending: "The address has not answered a test with 2xx yet: send a test.",
      operator: "Webhooks were disabled by an operator: enable them, then it is sent.",
      gone: "Webhooks were disabled, since the address answered only 410: fix it, then enable them.",
      failing: "Webhooks were disabled, since the address accepted nothing for five days: fix it, then enable them.",
      "no-token": "The bot has no API token to sign with: create one.",
    },
    ended: {
      "attempts-used-up": "No attempt was answered 2xx: fix the receiver, then send it again.",
      "at-most-once":
        "It was not answered 2xx, and the bot's webhooks are sent at most once: send it again if need be.",
      "held-too-long": "It was held for 30 days; it can be sent again.",
      erased: "Its user was erased before it was delivered.",
      test: "A test is sent once; send another one for a new answer.",
    },
  },
  ru: {
    delivered: "Получатель ответил 2xx.",
    sending: "Идёт попытка.",
    held: "Был задержан и скоро отправится.",
    test: "Тест отправляется один раз; чтобы увидеть новый ответ, отправьте ещё один.",
    unknown:
      "Неизвестно, дошёл ли он, а вебхуки этого бота отправляются не больше одного раза: прежде чем повторять, проверьте, есть ли событие у получателя.",
    again: "Его можно отправить снова.",
    replay: "Отправляется снова; если не выйдет, состояние останется прежним.",
    scheduled: "Следующая попытка запланирована.",
    due: (time) => `Следующая попытка: ${time}.`,
    rests: (time) => `Адрес не принял вебхук, поэтому до ${time} на него ничего не отправляется.`,
    blocked: {
      "no-endpoint": "У бота нет адреса вебхука.",
      pending: "Адрес ещё не ответил на тест кодом 2xx: отправьте тест.",
      operator: "Вебхуки отключил оператор: включите их, и событие отправится.",
      gone: "Вебхуки отключены: адрес отвечал только 410. Исправьте его и включите их.",
      failing: "Вебхуки отключены: пять дней адрес ничего не принимал. Исправьте его и включите их.",
      "no-token": "У бота нет API-токена для подписи: создайте его.",
    },
    ended: {
      "attempts-used-up": "Ни на одну попытку не ответили 2xx: исправьте получателя и отправьте снова.",
      "at-most-once":
        "Получатель не ответил 2xx, а вебхуки этого бота отправляются не больше одного раза: при необходимости отправьте снова.",
      "held-too-long": "Был задержан 30 дней; его можно отправить снова.",
      erased: "Данные его пользователя удалены до доставки.",
      test: "Тест отправляется один раз; чтобы увидеть новый ответ, отправьте ещё один.",
    },
  },
};

/** Why a delivery is in its state, and the next step. `time` writes moments. */
export function explainDelivery(language: Language, delivery: Facts, time: (at: Date) => string): string {
  const words = texts[language];
  const { state, isTest, blockedReason, endReason } = delivery;
  if (state === "delivered" || state === "sending") return words[state];
  if (state === "waiting" || state === "held") {
    if (blockedReason !== null) return words.blocked[blockedReason];
    return state === "held" ? words.held : explainWaiting(words, delivery, time);
  }
  if (isTest) return words.test;
  if (state === "unknown") return words.unknown;
  return endReason === null ? words.again : words.ended[endReason];
}

function explainWaiting(words: Texts, { notBefore, dueAt, resumeState }: Facts, time: (at: Date) => string): string {
  if (notBefore !== null && (dueAt === null || notBefore > dueAt)) return words.rests(time(notBefore));
  if (resumeState !== null) return words.replay;
  return dueAt === null ? words.scheduled : words.due(time(dueAt));
}
