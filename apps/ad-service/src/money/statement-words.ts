import type { StatementLanguage } from "@intermission/operator-api/statement-languages";
import type { StatementLine } from "@intermission/operator-api/statements";

interface StatementWords {
  kinds: Record<StatementLine["kind"], string>;
  /** Of an item, by its event; another event is named as it is. */
  events: Readonly<Record<string, string>>;
  refunded: string;
  statement: (number: number, month: string) => string;
  advertiser: string;
  publisher: string;
  from: string;
  for: string;
  name: string;
  id: string;
  taxId: string;
  currency: string;
  issued: string;
  date: string;
  what: string;
  quantity: string;
  unitPrice: string;
  amount: string;
  opening: string;
  closing: string;
  spent: string;
  containedTax: (tax: string, percent: string) => string;
  /** Where the operator has not named its tax. */
  tax: string;
}

/** The words of statements, by the language that their party reads. */
export const statementWords: Readonly<Record<StatementLanguage, StatementWords>> = {
  en: {
    kinds: {
      top_up: "Payment received",
      charge: "Views and clicks",
      refund: "Refunds",
      correction: "Correction",
      payout: "Payout",
    },
    events: {
      rewarded: "Views",
      direct_link: "Clicks",
      interstitial: "Interstitials",
      task: "Channel joins",
      impression: "Impressions",
    },
    refunded: "refunded",
    statement: (number, month) => `Statement ${number}, ${month}`,
    advertiser: "Account of an advertiser",
    publisher: "Account of a publisher",
    from: "From",
    for: "For",
    name: "Name",
    id: "Id",
    taxId: "Tax number",
    currency: "Currency",
    issued: "Issued",
    date: "Date",
    what: "What",
    quantity: "Quantity",
    unitPrice: "Unit price",
    amount: "Amount",
    opening: "Opening balance",
    closing: "Closing balance",
    spent: "Views and clicks, less refunds",
    containedTax: (tax, percent) => `of which ${tax}, ${percent}%`,
    tax: "tax",
  },
  ru: {
    kinds: {
      top_up: "Поступление",
      charge: "Просмотры и клики",
      refund: "Возвраты",
      correction: "Исправление",
      payout: "Выплата",
    },
    events: {
      rewarded: "Просмотры",
      direct_link: "Клики",
      interstitial: "Межстраничные показы",
      task: "Вступления в канал",
      impression: "Показы",
    },
    refunded: "возврат",
    statement: (number, month) => `Отчёт № ${number}, ${month}`,
    advertiser: "Счёт рекламодателя",
    publisher: "Счёт издателя",
    from: "От кого",
    for: "Кому",
    name: "Название",
    id: "Id",
    taxId: "Налоговый номер",
    currency: "Валюта",
    issued: "Выдан",
    date: "Дата",
    what: "Что",
    quantity: "Количество",
    unitPrice: "Цена",
    amount: "Сумма",
    opening: "Остаток на начало",
    closing: "Остаток на конец",
    spent: "Просмотры и клики за вычетом возвратов",
    containedTax: (tax, percent) => `в том числе ${tax}, ${percent} %`,
    tax: "налог",
  },
};
