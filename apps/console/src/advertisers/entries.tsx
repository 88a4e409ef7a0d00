import { amountOf } from "@intermission/operator-api/amounts";
import { csvOf } from "@intermission/operator-api/csv";
import { type AdvertiserMoney, moneyRoutes } from "@intermission/operator-api/money";
import type { MoneyEntry } from "@intermission/operator-api/money-fields";
import { lazy, Suspense, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { usePages } from "../operator/use-pages.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, EmptyState } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { saveCsv } from "../ui/csv.ts";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { advertiserWords, entryWords } from "./words.ts";

/** A form is loaded when it is opened. */
const TopUpDialog = lazy(async () => ({ default: (await import("./top-up-dialog.tsx")).TopUpDialog }));

/** What was paid in, charged and corrected, the latest first. */
export function Entries({ advertiser, currency }: { advertiser: AdvertiserMoney; currency: string }) {
  const { advertiserId } = advertiser;
  const words = useWords(advertiserWords);
  const { dateTime } = useFormats();
  const columns = useColumns();
  const pages = usePages([moneyRoutes.listAdvertiserEntries.path, advertiserId], (before, signal) =>
    callOperator(
      moneyRoutes.listAdvertiserEntries,
      { params: { advertiser: advertiserId }, query: { before } },
      signal,
    ),
  );
  return (
    <section aria-labelledby="entries">
      <AnswerView query={pages}>
        {({ pages: read }) => {
          const rows = read.flatMap(({ entries }) => entries);
          const settledUntil = read[0]?.settledUntil ?? null;
          return (
            <>
              <div className="list-head">
                <h2 id="entries">{words.entries}</h2>
                {settledUntil && <span className="as-of">{words.settledUntil(dateTime(settledUntil))}</span>}
                {rows.length > 0 && (
                  <Button onClick={() => saveCsv(`entries-${advertiserId}.csv`, entriesCsv(rows))}>
                    {words.entriesFile}
                  </Button>
                )}
              </div>
              {rows.length === 0 ? (
                <EmptyState action={<FirstTopUp advertiser={advertiser} currency={currency} />}>
                  {words.noEntries}
                </EmptyState>
              ) : (
                <DataTable
                  label={words.entries}
                  columns={columns}
                  rows={rows}
                  pages={pages}
                  keyOf={({ entryId }) => String(entryId)}
                />
              )}
            </>
          );
        }}
      </AnswerView>
    </section>
  );
}

function FirstTopUp({ advertiser, currency }: { advertiser: AdvertiserMoney; currency: string }) {
  const words = useWords(advertiserWords);
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  if (!may("recordTopUp")) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{words.firstTopUp}</Button>
      <Suspense>
        {isOpen && <TopUpDialog advertiser={advertiser} currency={currency} onClose={() => setOpen(false)} />}
      </Suspense>
    </>
  );
}

function useColumns(): Column<MoneyEntry>[] {
  const words = useWords(advertiserWords);
  const kinds = entryWords[useLanguage()];
  const { dateTime, exactMoney } = useFormats();
  return [
    { title: words.at, cell: ({ at }) => <time dateTime={at.toISOString()}>{dateTime(at)}</time> },
    { title: words.kind, cell: ({ kind }) => kinds[kind] },
    {
      title: words.amountTitle,
      isNumber: true,
      cell: ({ amountMicros, currency }) => exactMoney(amountMicros, currency),
    },
    { title: words.reference, cell: ({ reference }) => reference },
    { title: words.note, cell: ({ note }) => note },
  ];
}

/** The shown entries, with amounts in the currency. */
function entriesCsv(rows: readonly MoneyEntry[]): string {
  return csvOf([
    ["entry", "transaction", "at", "kind", "amount", "currency", "reference", "note"],
    ...rows.map(({ entryId, transactionId, at, kind, amountMicros, currency, reference, note }) => [
      entryId,
      transactionId ?? null,
      at,
      kind,
      Number(amountOf(amountMicros)),
      currency,
      reference,
      note,
    ]),
  ]);
}
