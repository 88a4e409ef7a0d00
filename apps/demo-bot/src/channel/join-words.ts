import type { JoinState } from "./private-channel.ts";

type JoinWords = Readonly<Record<JoinState | "unanswered", (title: string) => string>>;

const english: JoinWords = {
  requested: (title) => `You requested to join “${title}”.`,
  shown: (title) => `You requested to join “${title}”.`,
  queued: (title) => `The administrators of “${title}” decide about your request.`,
  member: (title) => `✅ You are in “${title}”.`,
  declined: (title) => `Your request to join “${title}” was declined.`,
  unanswered: (title) =>
    `The administrators of “${title}” decide about your request: the program of your bot did not take it.`,
};

const russian: JoinWords = {
  requested: (title) => `Вы подали заявку на вступление в «${title}».`,
  shown: (title) => `Вы подали заявку на вступление в «${title}».`,
  queued: (title) => `Вашу заявку в «${title}» рассмотрят администраторы.`,
  member: (title) => `✅ Вы вступили в «${title}».`,
  declined: (title) => `Ваша заявка в «${title}» отклонена.`,
  unanswered: (title) => `Вашу заявку в «${title}» рассмотрят администраторы: программа вашего бота её не приняла.`,
};

/** What Telegram tells the user about a request to join. */
export function joinWords(language: string): JoinWords {
  return /^ru\b/i.test(language) ? russian : english;
}
