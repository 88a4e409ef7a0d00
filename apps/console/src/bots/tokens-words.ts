import { wordTable } from "../words/word-table.ts";

export const tokensWords = wordTable({
  en: {
    tokens: "API tokens",
    state: { next: "next", active: "active", retiring: "retiring", revoked: "revoked" },
    since: (time: string) => `since ${time}`,
    until: (time: string) => `works until ${time}`,
    revokedTokens: (count: string) => `Revoked: ${count}`,
    noToken: "This bot has no token: it gets no codes, and its events are held.",
    guide: "Change the token",
    steps: {
      make: "Make a new token. From then on both work.",
      use: "Put it first in the bot's list of tokens, and use it for requests. Then activate it: the old one works for seven more days.",
      revoke: "Revoke the old one, once the bot keeps only the new one.",
    },
    newToken: "New token",
    shownOnce:
      "This token is shown here only. Copy it before you close this window; if it is lost, revoke it and make another.",
    putFirst: "Put it where the bot keeps its token, in AD_API_TOKEN.",
    putBeside:
      "Put it in the list of tokens that the bot's webhooks are checked with, before the old one; then in AD_API_TOKEN, which its requests use. Then activate it here: the old one works for seven more days.",
    docs: "The publisher's side: docs/webhooks.md, “Rotate the token”.",
    activate: "Activate",
    activateOf: (id: string) => `Activate: ${id}`,
    activateText:
      "Do this once the bot has the new token: X-Signature is then made with it alone. When a token was last used is not recorded, so look at the bot: npx @intermission/publisher doctor checks the token that it has.",
    activated: (time: string) => `The token is active. The old one works until ${time}.`,
    activatedFirst: "The token is active.",
    revoke: "Revoke",
    revokeOf: (id: string) => `Revoke: ${id}`,
    revokeText: {
      next: "Whoever has this token cannot use it any more. The old one stays.",
      active:
        "Whoever has this token cannot use it any more; the next one takes its place. Without a next one, the bot gets no codes and its events are held.",
      retiring: "Whoever has this token cannot use it any more. The new one stays.",
      revoked: "",
    },
    noInverse: (name: string) => `This cannot be undone. Type ${name} to go on.`,
    botName: "Name of the bot",
    otherName: (name: string) => `This is not ${name}.`,
    revokedNow: (id: string) => `${id} is revoked.`,
    revokedLast: (id: string) => `${id} is revoked. It was the last one: the bot's events are held.`,
  },
  ru: {
    tokens: "API-токены",
    state: { next: "следующий", active: "действует", retiring: "заменяется", revoked: "отозван" },
    since: (time) => `с ${time}`,
    until: (time) => `работает до ${time}`,
    revokedTokens: (count) => `Отозвано: ${count}`,
    noToken: "У этого бота нет токена: он не получает кодов, а его события задержаны.",
    guide: "Замена токена",
    steps: {
      make: "Создайте новый токен. С этого времени работают оба.",
      use: "Поставьте его первым в списке токенов бота и используйте для запросов. Затем включите его: старый будет работать ещё семь дней.",
      revoke: "Отзовите старый, когда у бота останется только новый.",
    },
    newToken: "Новый токен",
    shownOnce:
      "Токен показан только здесь. Скопируйте его, прежде чем закрыть окно; если он потерян, отзовите его и создайте другой.",
    putFirst: "Положите его туда, где бот хранит свой токен: в AD_API_TOKEN.",
    putBeside:
      "Добавьте его в список токенов, которыми проверяются вебхуки бота, перед старым; затем в AD_API_TOKEN, с которым идут запросы. Затем включите его здесь: старый будет работать ещё семь дней.",
    docs: "Что делать издателю: docs/webhooks.md, “Rotate the token”.",
    activate: "Включить",
    activateOf: (id) => `Включить: ${id}`,
    activateText:
      "Сделайте это, когда новый токен есть у бота: X-Signature будет только с ним. Когда токен использовали в последний раз, не записывается, поэтому посмотрите у бота: npx @intermission/publisher doctor проверит его токен.",
    activated: (time) => `Токен включён. Старый работает до ${time}.`,
    activatedFirst: "Токен включён.",
    revoke: "Отозвать",
    revokeOf: (id) => `Отозвать: ${id}`,
    revokeText: {
      next: "Никто больше не сможет использовать этот токен. Старый остаётся.",
      active:
        "Никто больше не сможет использовать этот токен; его место займёт следующий. Если следующего нет, бот не получит кодов, а его события будут задержаны.",
      retiring: "Никто больше не сможет использовать этот токен. Новый остаётся.",
      revoked: "",
    },
    noInverse: (name) => `Это не отменить. Чтобы продолжить, введите ${name}.`,
    botName: "Название бота",
    otherName: (name) => `Это не ${name}.`,
    revokedNow: (id) => `${id} отозван.`,
    revokedLast: (id) => `${id} отозван. Он был последним: события бота задержаны.`,
  },
});
