import type { AlertCause } from "@intermission/operator-api/alerts";
import type { StatementLanguage } from "@intermission/operator-api/statement-languages";

type Facts = Readonly<Record<string, string>>;

interface AlertWords {
  subjects: Record<AlertCause, string>;
  sentences: Record<AlertCause, (facts: Facts) => string>;
  more: (count: number) => string;
  console: string;
  settings: string;
}

/** What mails and messages say. The console has words of its own. */
export const alertWords: Readonly<Record<StatementLanguage, AlertWords>> = {
  en: {
    subjects: {
      "money-low": "Money is nearly used up",
      "budget-spent": "A budget is spent",
      "fill-fallen": "Fewer requests get an ad",
      "bids-fallen": "Fewer bids of a buyer",
      "webhooks-failing": "Webhooks fail",
      "videos-waiting": "Videos wait for approval",
      "campaigns-waiting": "Campaigns wait for approval",
      "campaign-approved": "Your campaign is approved",
      "campaign-refused": "Your campaign was refused",
      "money-waiting": "Money waits for a second person",
      "approvals-changed": "The amount for a second person's approval was changed",
      "views-held": "Views are held for review",
      "payout-due": "Payouts are due",
      "new-device": "Your account was signed in to from a new device",
    },
    sentences: {
      "money-low": ({ name, amount }) =>
        `${name} has ${amount} left, which is less than it spent since yesterday. Its campaigns stop when nothing is left.`,
      "budget-spent": ({ name }) => `The campaign ${name} has spent its total budget and is shown no more.`,
      "fill-fallen": ({ name, before, now }) =>
        `In ${name}, ${now}% of the requests of a day got an ad; ${before}% on the day before.`,
      "bids-fallen": ({ name, before, now }) =>
        `${name} bid for ${now}% of its latest 1,000 requests; for ${before}% of the 1,000 before.`,
      "webhooks-failing": ({ name }) =>
        `The webhook address of ${name} does not accept events. They wait, and are sent again.`,
      "videos-waiting": ({ count }) => `Videos that wait for a decision: ${count}.`,
      "campaigns-waiting": ({ count }) => `Campaigns of advertisers that wait for a decision: ${count}.`,
      "campaign-approved": ({ name }) => `The campaign ${name} is approved.`,
      "campaign-refused": ({ name, reason }) => `The campaign ${name} was refused: ${reason}`,
      "money-waiting": ({ count }) =>
        `Credit, payments, corrections and payouts that wait for a second person: ${count}.`,
      "approvals-changed": ({ before, after }) =>
        `Above this amount a second person approves money: ${after}; before: ${before} (–: nobody approves).`,
      "views-held": ({ count }) => `Suspicious views that wait for a decision: ${count}.`,
      "payout-due": ({ month, count }) => `Publishers to be paid for ${month}: ${count}.`,
      "new-device": ({ browser }) =>
        `From: ${browser}. If it was not you, end that session and change your password under "Your account".`,
    },
    more: (count) => `And ${count} more, in the console.`,
    console: "The console:",
    settings: 'What you are told, you choose under "Your account".',
  },
  ru: {
    subjects: {
      "money-low": "Деньги почти закончились",
      "budget-spent": "Бюджет израсходован",
      "fill-fallen": "Реже находится реклама",
      "bids-fallen": "Покупатель делает меньше ставок",
      "webhooks-failing": "Вебхуки не принимаются",
      "videos-waiting": "Видео ждут одобрения",
      "campaigns-waiting": "Кампании ждут одобрения",
      "campaign-approved": "Ваша кампания одобрена",
      "campaign-refused": "Ваша кампания отклонена",
      "money-waiting": "Деньги ждут второго человека",
      "approvals-changed": "Изменена сумма для одобрения вторым человеком",
      "views-held": "Просмотры ждут проверки",
      "payout-due": "Пора выплачивать",
      "new-device": "Вход в ваш аккаунт с нового устройства",
    },
    sentences: {
      "money-low": ({ name, amount }) =>
        `У ${name} осталось ${amount}: меньше, чем потрачено со вчерашнего дня. Когда ничего не останется, кампании остановятся.`,
      "budget-spent": ({ name }) => `Кампания ${name} израсходовала весь бюджет и больше не показывается.`,
      "fill-fallen": ({ name, before, now }) =>
        `В ${name} рекламу за сутки получили ${now} % запросов; за сутки до того ${before} %.`,
      "bids-fallen": ({ name, before, now }) =>
        `${name} сделал ставку на ${now} % последних 1000 запросов; на ${before} % из 1000 до них.`,
      "webhooks-failing": ({ name }) => `Адрес вебхуков ${name} не принимает события. Они ждут и отправляются снова.`,
      "videos-waiting": ({ count }) => `Видео, которые ждут решения: ${count}.`,
      "campaigns-waiting": ({ count }) => `Кампании рекламодателей, которые ждут решения: ${count}.`,
      "campaign-approved": ({ name }) => `Кампания ${name} одобрена.`,
      "campaign-refused": ({ name, reason }) => `Кампания ${name} отклонена: ${reason}`,
      "money-waiting": ({ count }) =>
        `Кредиты, платежи, исправления и выплаты, которые ждут второго человека: ${count}.`,
      "approvals-changed": ({ before, after }) =>
        `Сумма, выше которой деньги одобряет второй человек: ${after}; до этого: ${before} (–: никто не одобряет).`,
      "views-held": ({ count }) => `Подозрительные просмотры, которые ждут решения: ${count}.`,
      "payout-due": ({ month, count }) => `Издателей к выплате за ${month}: ${count}.`,
      "new-device": ({ browser }) =>
        `Откуда: ${browser}. Если это не вы, завершите тот сеанс и смените пароль в разделе «Моя учётная запись».`,
    },
    more: (count) => `И ещё ${count}, в консоли.`,
    console: "Консоль:",
    settings: "О чём вам сообщать, вы выбираете в разделе «Моя учётная запись».",
  },
};
