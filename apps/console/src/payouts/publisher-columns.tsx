import { amountOf } from "@intermission/operator-api/amounts";
import { csvOf } from "@intermission/operator-api/csv";
import type { PublisherMoney } from "@intermission/operator-api/publisher-money";
import { Link } from "@tanstack/react-router";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import type { Column } from "../ui/data-table.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { payoutWords } from "./words.ts";

interface ColumnsProps {
  currency: string;
  /** Undefined: the month cannot be paid yet. */
  onPay: ((publisher: PublisherMoney) => void) | undefined;
  onPayee: (publisher: PublisherMoney) => void;
}

export function usePublisherColumns({ currency, onPay, onPayee }: ColumnsProps): Column<PublisherMoney>[] {
  const words = useWords(payoutWords);
  const may = useMay();
  const { exactMoney, date } = useFormats();
  return [
    {
      id: "name",
      title: words.publisher,
      sortBy: "server",
      cell: ({ botId, name }) => (
        <Link to="/publisher" search={{ bot: botId }} className="row-link">
          {name}
        </Link>
      ),
    },
    {
      id: "earned",
      title: words.earned,
      isNumber: true,
      sortBy: "server",
      cell: ({ earnedMicros }) => exactMoney(earnedMicros, currency),
    },
    {
      id: "owed",
      title: words.owed,
      isNumber: true,
      sortBy: "server",
      cell: ({ owedMicros }) => exactMoney(owedMicros, currency),
    },
    {
      id: "paid",
      title: words.paid,
      sortBy: "server",
      cell: ({ paidAt }) => paidAt && date(paidAt),
    },
    {
      id: "reference",
      title: words.reference,
      sortBy: "server",
      cell: ({ reference }) => reference,
    },
    {
      id: "payee",
      title: words.payee,
      sortBy: "server",
      cell: (publisher) => {
        const { name, hasPayee } = publisher;
        const state = hasPayee ? words.hasPayee : words.noPayee;
        if (!may("setPayee")) return state;
        return (
          <Button look="quiet" aria-label={`${words.payeeOf(name)}: ${state}`} onClick={() => onPayee(publisher)}>
            {state}
          </Button>
        );
      },
    },
    {
      title: "",
      cell: (publisher) =>
        onPay !== undefined &&
        publisher.payableMicros > 0 &&
        may("recordPayout") && (
          <Button look="quiet" aria-label={words.payOf(publisher.name)} onClick={() => onPay(publisher)}>
            {words.pay}
          </Button>
        ),
    },
  ];
}

/** The publishers as a file. */
export function payoutsCsv(
  publishers: readonly PublisherMoney[],
  { month, currency }: { month: string; currency: string },
): string {
  return csvOf([
    ["month", "bot_id", "name", "earned", "owed", "currency", "paid_at", "reference"],
    ...publishers.map(({ botId, name, earnedMicros, owedMicros, paidAt, reference }) => [
      month,
      botId,
      name,
      Number(amountOf(earnedMicros)),
      Number(amountOf(owedMicros)),
      currency,
      paidAt,
      reference,
    ]),
  ]);
}
