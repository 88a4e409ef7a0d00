import { amountOf } from "@intermission/operator-api/amounts";
import { csvOf } from "@intermission/operator-api/csv";
import { type PublisherMoney, publisherMoneyRoutes } from "@intermission/operator-api/publisher-money";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { useWholeList } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { saveCsv } from "../ui/csv.ts";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { isFound, ListHead } from "../ui/list-head.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { Runs } from "./runs.tsx";
import { payoutWords } from "./words.ts";

/** A form is loaded when it is opened. */
const PayDialog = lazy(async () => ({ default: (await import("./pay-dialog.tsx")).PayDialog }));
const PayAllDialog = lazy(async () => ({ default: (await import("./pay-all-dialog.tsx")).PayAllDialog }));
const PayeeDialog = lazy(async () => ({ default: (await import("../advertisers/party-dialogs.tsx")).PayeeDialog }));
const OperatorDialog = lazy(async () => ({
  default: (await import("../advertisers/party-dialogs.tsx")).OperatorDialog,
}));

const route = getRouteApi("/shell/payouts");
const MONTHS = 24;

/** What publishers earned in a month and are owed until its end, to be marked as paid. */
export function PayoutsScreen() {
  const words = useWords(payoutWords);
  const { month } = route.useSearch();
  const { dateTime } = useFormats();
  const answer = useWholeList(publisherMoneyRoutes.listPublisherMoney, { query: { month } });
  const settledUntil = answer.data?.settledUntil ?? null;
  return (
    <Page
      title={words.payouts}
      aside={
        <>
          {settledUntil && <span className="as-of">{words.settled(dateTime(settledUntil))}</span>}
          <PageActions answer={answer.data} />
        </>
      }
    >
      <AnswerView query={answer}>{(read) => <Publishers {...read} />}</AnswerView>
      <Runs />
    </Page>
  );
}

/** What concerns all publishers: paying them, and what payouts and statements say of the operator. */
function PageActions({ answer }: { answer: PublishersProps | undefined }) {
  const words = useWords(payoutWords);
  const may = useMay();
  const [opened, setOpened] = useState<"all" | "operator">();
  if (!may("payAll")) return null;
  const due = answer?.isOver ? answer.publishers.filter(isDue) : [];
  const onClose = () => setOpened(undefined);
  return (
    <>
      <Button onClick={() => setOpened("operator")}>{words.ownDetails}</Button>
      {due.some(({ hasPayee }) => hasPayee) && (
        <Button look="primary" onClick={() => setOpened("all")}>
          {words.payAll}
        </Button>
      )}
      <Suspense>
        {opened === "operator" && <OperatorDialog onClose={onClose} />}
        {opened === "all" && answer && (
          <PayAllDialog due={due} month={answer.month} currency={answer.currency} onClose={onClose} />
        )}
      </Suspense>
    </>
  );
}

interface PublishersProps {
  publishers: readonly PublisherMoney[];
  month: string;
  currency: string;
  isOver: boolean;
}

function Publishers({ publishers, month, currency, isOver }: PublishersProps) {
  const words = useWords(payoutWords);
  const search = route.useSearch();
  const { exactMoney } = useFormats();
  const [paid, setPaid] = useState<PublisherMoney>();
  const [payeeOf, setPayeeOf] = useState<PublisherMoney>();
  const columns = useColumns({ currency, onPay: isOver ? setPaid : undefined, onPayee: setPayeeOf });
  const shown = matching(publishers, search);
  const payableMicros = shown.reduce((sum, one) => sum + one.payableMicros, 0);
  return (
    <>
      <Filters
        month={month}
        view={<ListView list="payouts" columns={columns} />}
        total={words.total({ publishers: shown.length, amount: exactMoney(payableMicros, currency) })}
      />
      {!isOver && <p className="secondary">{words.notOver}</p>}
      {shown.length === 0 ? (
        <EmptyState action={publishers.length > 0 && <ShowAll keep={["month"]} />}>
          {publishers.length === 0 ? words.none : words.noMatch}
        </EmptyState>
      ) : (
        <>
          <DataTable list="payouts" label={words.payouts} columns={columns} rows={shown} keyOf={({ botId }) => botId} />
          <div className="row list-more">
            <Button onClick={() => saveCsv(`payouts-${month}.csv`, payoutsCsv(shown, { month, currency }))}>
              {words.csv}
            </Button>
          </div>
        </>
      )}
      <Suspense>
        {paid && (
          <PayDialog
            title={words.payOf(paid.name)}
            publisher={paid}
            month={month}
            currency={currency}
            onClose={() => setPaid(undefined)}
          />
        )}
        {payeeOf && <PayeeDialog botId={payeeOf.botId} name={payeeOf.name} onClose={() => setPayeeOf(undefined)} />}
      </Suspense>
    </>
  );
}

function Filters({ month, total, view }: { month: string; total: string; view: ReactNode }) {
  const words = useWords(payoutWords);
  const { month: nameOfMonth } = useFormats();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = (changes: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...changes }, replace: true });
  const months = [...new Set([...lastMonths(MONTHS, new Date()), month])];
  return (
    <ListHead
      find={search.find}
      findLabel={words.find}
      onFind={(find) => filter({ find })}
      count={total}
      actions={view}
      lead={
        <select aria-label={words.month} value={month} onChange={({ target }) => filter({ month: target.value })}>
          {months.map((one) => (
            <option key={one} value={one}>
              {nameOfMonth(one)}
            </option>
          ))}
        </select>
      }
    >
      <FilterSelect
        label={words.state}
        value={search.state}
        all={words.all}
        options={(["due", "paid"] as const).map((state) => ({ value: state, text: words[state] }))}
        onChange={(state) => filter({ state })}
      />
    </ListHead>
  );
}

type Search = ReturnType<typeof route.useSearch>;

const isDue = ({ payableMicros }: PublisherMoney) => payableMicros > 0;

function matching(all: readonly PublisherMoney[], { find, state }: Search): PublisherMoney[] {
  return all.filter(
    (one) =>
      isFound(find, [one.name, one.botId]) &&
      (state === undefined || (state === "due" ? isDue(one) : one.paidAt !== null)),
  );
}

interface ColumnsProps {
  currency: string;
  /** Undefined: the month cannot be paid yet. */
  onPay: ((publisher: PublisherMoney) => void) | undefined;
  onPayee: (publisher: PublisherMoney) => void;
}

function useColumns({ currency, onPay, onPayee }: ColumnsProps): Column<PublisherMoney>[] {
  const words = useWords(payoutWords);
  const may = useMay();
  const { exactMoney, date } = useFormats();
  return [
    {
      id: "name",
      title: words.publisher,
      sortBy: ({ name }) => name,
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
      sortBy: ({ earnedMicros }) => earnedMicros,
      cell: ({ earnedMicros }) => exactMoney(earnedMicros, currency),
    },
    {
      id: "owed",
      title: words.owed,
      isNumber: true,
      sortBy: ({ owedMicros }) => owedMicros,
      cell: ({ owedMicros }) => exactMoney(owedMicros, currency),
    },
    {
      id: "paid",
      title: words.paid,
      sortBy: ({ paidAt }) => paidAt,
      cell: ({ paidAt }) => paidAt && date(paidAt),
    },
    {
      id: "reference",
      title: words.reference,
      sortBy: ({ reference }) => reference,
      cell: ({ reference }) => reference,
    },
    {
      id: "payee",
      title: words.payee,
      sortBy: ({ hasPayee }) => Number(hasPayee),
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
        isDue(publisher) &&
        may("recordPayout") && (
          <Button look="quiet" aria-label={words.payOf(publisher.name)} onClick={() => onPay(publisher)}>
            {words.pay}
          </Button>
        ),
    },
  ];
}

function payoutsCsv(rows: readonly PublisherMoney[], { month, currency }: { month: string; currency: string }): string {
  return csvOf([
    ["month", "bot_id", "name", "earned", "owed", "currency", "paid_at", "reference"],
    ...rows.map(({ botId, name, earnedMicros, owedMicros, paidAt, reference }) => [
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

/** Months (UTC) as `2026-03`, the running one first. */
function lastMonths(count: number, now: Date): string[] {
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );
}
