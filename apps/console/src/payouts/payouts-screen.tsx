import {
  type PublisherMoney,
  payoutStates,
  publisherMoneyRoutes,
  publisherMoneySorts,
} from "@intermission/operator-api/publisher-money";
import type { AnswerOf } from "@intermission/operator-api/route";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { wholeListOf } from "../operator/use-operator.ts";
import { PAGE_ROWS, rowsOf, sortIn, usePages } from "../operator/use-pages.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, EmptyState, ShowAll } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { CsvButton } from "../ui/csv-button.tsx";
import { DataTable, type Pages } from "../ui/data-table.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { ListHead } from "../ui/list-head.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Page } from "../ui/page.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { payoutsCsv, usePublisherColumns } from "./publisher-columns.tsx";
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
  const { dateTime } = useFormats();
  const { pages, readAll } = usePublisherPages(route.useSearch());
  const latest = pages.data?.pages.at(-1);
  return (
    <Page
      title={words.payouts}
      aside={
        <>
          {latest?.settledUntil && <span className="as-of">{words.settled(dateTime(latest.settledUntil))}</span>}
          {latest && <PageActions {...latest} />}
        </>
      }
    >
      <AnswerView query={pages}>
        {(read) =>
          latest && (
            <Publishers
              {...latest}
              publishers={rowsOf(
                read.pages.map(({ publishers }) => publishers),
                ({ botId }) => botId,
              )}
              pages={pages}
              readAll={readAll}
            />
          )
        }
      </AnswerView>
      <Runs />
    </Page>
  );
}

const { listPublisherMoney } = publisherMoneyRoutes;
type PublisherPage = AnswerOf<typeof listPublisherMoney>;

function usePublisherPages({ month, find, state, sort }: ReturnType<typeof route.useSearch>) {
  const queries = useQueryClient();
  const query = { month, find, state, sort: sortIn(sort, publisherMoneySorts) };
  const pages = usePages(
    ["payouts", query],
    (after, signal) => callOperator(listPublisherMoney, { query: { ...query, limit: PAGE_ROWS, after } }, signal),
    { keepsRows: true },
  );
  // Reads the month in the address, while the page may still show the previous one.
  const readAll = () => queries.fetchQuery(wholeListOf(listPublisherMoney, { query }));
  return { pages, readAll };
}

type Month = Pick<PublisherPage, "month" | "isOver" | "currency">;

/** What concerns all publishers: paying them, and what payouts and statements say of the operator. */
function PageActions({ month, isOver, currency }: Month) {
  const words = useWords(payoutWords);
  const mayPay = useMay()("payAll");
  const [opened, setOpened] = useState<"all" | "operator">();
  const ofDue = wholeListOf(listPublisherMoney, { query: { month, state: "due" } });
  const due = useQuery({ ...ofDue, enabled: isOver && mayPay }).data?.publishers ?? [];
  const onClose = () => setOpened(undefined);
  if (!mayPay) return null;
  return (
    <>
      <Button onClick={() => setOpened("operator")}>{words.ownDetails}</Button>
      {isOver && due.some(({ hasPayee }) => hasPayee) && (
        <Button look="primary" onClick={() => setOpened("all")}>
          {words.payAll}
        </Button>
      )}
      <Suspense>
        {opened === "operator" && <OperatorDialog onClose={onClose} />}
        {opened === "all" && <PayAllDialog due={due} month={month} currency={currency} onClose={onClose} />}
      </Suspense>
    </>
  );
}

interface PublishersProps extends PublisherPage {
  pages: Pages;
  /** Reads all matching publishers; the screen shows a page. */
  readAll: () => Promise<PublisherPage>;
}

function Publishers({ publishers, month, currency, isOver, total, totalPayableMicros, ...list }: PublishersProps) {
  const words = useWords(payoutWords);
  const { find, state } = route.useSearch();
  const { exactMoney } = useFormats();
  const [paid, setPaid] = useState<PublisherMoney>();
  const [payeeOf, setPayeeOf] = useState<PublisherMoney>();
  const columns = usePublisherColumns({ currency, onPay: isOver ? setPaid : undefined, onPayee: setPayeeOf });
  const isFiltered = find !== undefined || state !== undefined;
  return (
    <>
      <Filters
        month={month}
        view={<ListView list="payouts" columns={columns} />}
        total={words.total({ publishers: total, amount: exactMoney(totalPayableMicros, currency) })}
      />
      {!isOver && <p className="secondary">{words.notOver}</p>}
      <DataTable
        list="payouts"
        label={words.payouts}
        columns={columns}
        rows={publishers}
        pages={list.pages}
        keyOf={({ botId }) => botId}
        empty={
          <EmptyState action={isFiltered && <ShowAll keep={["month"]} />}>
            {isFiltered ? words.noMatch : words.none}
          </EmptyState>
        }
      />
      {total > 0 && (
        <div className="row list-more">
          <CsvButton
            readCsv={async () => {
              const { publishers, ...read } = await list.readAll();
              return { file: `payouts-${read.month}.csv`, csv: payoutsCsv(publishers, read) };
            }}
            isEmpty={false}
          >
            {words.csv}
          </CsvButton>
        </div>
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
        options={payoutStates.map((state) => ({ value: state, text: words[state] }))}
        onChange={(state) => filter({ state })}
      />
    </ListHead>
  );
}

/** Months (UTC) as `2026-03`, the running one first. */
function lastMonths(count: number, now: Date): string[] {
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );
}
