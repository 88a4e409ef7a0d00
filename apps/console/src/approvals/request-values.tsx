import type { MoneyRequest, Requested } from "@intermission/operator-api/money-requests";
import type { Terms } from "@intermission/operator-api/terms";
import { useFormats } from "../words/formats.ts";
import { billingWords } from "../words/terms-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { approvalWords } from "./words.ts";

/** What is asked for, as a title. */
export function useRequestTitle(): (request: MoneyRequest) => string {
  const words = useWords(approvalWords);
  const { month } = useFormats();
  return ({ requested, name }) => {
    if (requested.operation === "setApprovalAmount") return words.ofAmount;
    const of = name ?? ("month" in requested ? month(requested.month) : "");
    return words.operations[requested.operation](of);
  };
}

/** All values with which a request is recorded once it is approved. */
export function RequestValues({ request: { requested, currency } }: { request: MoneyRequest }) {
  const { exactMoney } = useFormats();
  const values = useValues(currency)(requested);
  return (
    <>
      <dl className="facts">
        {values.map(([title, text]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {requested.operation === "payAll" && (
        <ul>
          {requested.payments.map(({ botId, payeeName, iban, amountMicros }) => (
            <li key={botId}>
              {payeeName}, {iban}: {exactMoney(amountMicros, currency)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

type Values = [title: string, text: string][];

function useValues(currency: string): (requested: Requested) => Values {
  const words = useWords(approvalWords);
  const language = useLanguage();
  const { exactMoney, month } = useFormats();
  const limited = (micros: number | null, none: string) => (micros === null ? none : exactMoney(micros, currency));
  const termsText = ({ billing, creditLimitMicros }: Terms) =>
    billing === "prepaid"
      ? billingWords[language].prepaid
      : `${billingWords[language].credit}, ${limited(creditLimitMicros, words.noLimit)}`;
  const noted = (note: string | null): Values => (note === null ? [] : [[words.note, note]]);
  return (requested) => {
    switch (requested.operation) {
      case "setTerms":
        return [
          [words.before, termsText(requested.before)],
          [words.after, termsText(requested.terms)],
        ];
      case "recordTopUp":
        return [
          [words.amount, exactMoney(requested.amountMicros, currency)],
          [words.reference, requested.reference],
          ...noted(requested.note),
          ...(requested.isConfirmed ? [[words.besides, words.isConfirmed] satisfies Values[number]] : []),
        ];
      case "creditHeldPayment":
        return [
          [words.amount, exactMoney(requested.amountMicros, currency)],
          [words.reference, requested.reference],
          [words.besides, words.isConfirmed],
        ];
      case "correctAdvertiser":
      case "correctPublisher":
        return [
          [words.amount, exactMoney(requested.amountMicros, currency)],
          [words.direction, words.directions[requested.direction]],
          [words.against, words.accounts[requested.against]],
          ...noted(requested.note),
        ];
      case "recordPayout":
      case "payAll":
        return [
          [words.amount, exactMoney(requested.amountMicros, currency)],
          [words.until, month(requested.month)],
          [words.reference, requested.reference],
          ...noted("note" in requested ? requested.note : null),
        ];
      case "setApprovalAmount":
        return [
          [words.before, limited(requested.before, words.nothing)],
          [words.after, limited(requested.aboveMicros, words.nothing)],
        ];
      default:
        throw requested satisfies never;
    }
  };
}
