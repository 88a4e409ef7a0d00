import { currencyRoutes } from "@intermission/operator-api/currency";
import { type SourceOrder, sourceOrderRoutes } from "@intermission/operator-api/source-orders";
import { useState } from "react";
import { useAnswer, useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { loadWords } from "../words/catalog.ts";
import { useFormats } from "../words/formats.ts";
import type { Language } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";

type Mode = SourceOrder["mode"];
type Source = SourceOrder["sources"][number];

const orderWords = loadWords("sourceOrder") satisfies Record<Language, { readonly modes: Record<Mode, string> }>;

/** The order of a bot's VAST tags, with each tag's fills and earnings by country. */
export function OrderPanel({ botId }: { botId: string }) {
  const words = useWords(orderWords);
  const { share } = useFormats();
  const [typed, setTyped] = useState("");
  const country = /^[A-Z]{2}$/.test(typed) ? typed : undefined;
  const order = useAnswer(sourceOrderRoutes.explainOrder, { params: { botId }, query: { country } });
  const columns = useColumns();
  return (
    <section className="panel stack" aria-labelledby="source-order">
      <h2 id="source-order">{words.title}</h2>
      <p className="secondary">{words.about}</p>
      <div className="order-country">
        <Field label={words.country} hint={words.countryHint}>
          {(control) => (
            <input
              {...control}
              value={typed}
              maxLength={2}
              onChange={({ target }) => setTyped(target.value.toUpperCase())}
            />
          )}
        </Field>
      </div>
      <AnswerView query={order} rows={3}>
        {(read) => (
          <>
            <p>
              <strong>{words.modes[read.mode]}</strong>
              {read.exploredShare > 0 && ` ${words.explored(share(read.exploredShare))}`}
            </p>
            <DataTable
              label={words.title}
              columns={columns}
              rows={read.sources}
              keyOf={({ campaignId }) => campaignId}
              empty={<p className="secondary">{words.none}</p>}
            />
            <Modes order={read} />
          </>
        )}
      </AnswerView>
    </section>
  );
}

function useColumns(): Column<Source>[] {
  const words = useWords(orderWords);
  const { number, share, money } = useFormats();
  const { data } = useAnswer(currencyRoutes.showCurrency);
  const amount = (micros: number) => (data === undefined ? "" : money(micros, data.currency));
  return [
    { title: words.source, cell: ({ name }) => name },
    { title: words.place, isNumber: true, cell: ({ place }) => (place === null ? "–" : number(place)) },
    { title: words.price, isNumber: true, cell: ({ priceMicros }) => amount(priceMicros) },
    { title: words.tries, isNumber: true, cell: ({ tries }) => number(tries) },
    {
      title: words.fills,
      isNumber: true,
      cell: ({ tries, fills }) => (tries === 0 ? "–" : `${number(fills)} (${share(fills / tries)})`),
    },
    { title: words.completed, isNumber: true, cell: ({ completed }) => number(completed) },
    { title: words.earned, isNumber: true, cell: ({ earnedMicros }) => amount(earnedMicros) },
    { title: words.expected, isNumber: true, cell: ({ fillMicros }) => amount(fillMicros) },
  ];
}

function Modes({ order: { botId, mode, sources } }: { order: SourceOrder }) {
  const words = useWords(orderWords);
  const may = useMay();
  const notice = useNotice();
  const onError = useFailedNotice();
  const change = useChange(sourceOrderRoutes.setOrder);
  if (!may("setOrder")) return null;
  const set = (to: Mode, campaignIds?: string[]) =>
    change.mutate(
      { params: { botId }, body: { mode: to, ...(campaignIds && { campaignIds }) } },
      { onError, onSuccess: () => notice({ text: words.modes[to] }) },
    );
  return (
    <div className="row">
      {mode !== "earned" && (
        <Button isBusy={change.isPending} onClick={() => set("earned")}>
          {words.byEarnings}
        </Button>
      )}
      {mode !== "fixed" && sources.length > 0 && (
        <Button
          isBusy={change.isPending}
          onClick={() =>
            set(
              "fixed",
              sources.map(({ campaignId }) => campaignId),
            )
          }
        >
          {words.fixIt}
        </Button>
      )}
      {mode !== "weights" && (
        <Button isBusy={change.isPending} onClick={() => set("weights")}>
          {words.byWeight}
        </Button>
      )}
    </div>
  );
}
