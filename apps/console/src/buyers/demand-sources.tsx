import { buyerRoutes, type SourceFigures } from "@intermission/operator-api/buyers";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { demandSourceWords } from "./words.ts";

/** What each source of ads brought in the last seven days, and how buyers answer. */
export function DemandSources() {
  const words = useWords(demandSourceWords);
  const demand = useAnswer(buyerRoutes.showDemand, {});
  return (
    <section className="stack" aria-labelledby="sources">
      <h2 id="sources">{words.sources}</h2>
      <p className="hint">
        {words.hint}{" "}
        <Link to="/reports" className="link">
          {words.funnel}
        </Link>
      </p>
      <AnswerView query={demand}>
        {({ sources, currency }) => <Sources sources={sources} currency={currency} />}
      </AnswerView>
    </section>
  );
}

function Sources({ sources, currency }: { sources: readonly SourceFigures[]; currency: string }) {
  const words = useWords(demandSourceWords);
  const { exactMoney, number, share } = useFormats();
  const columns = useMemo((): Column<SourceFigures>[] => {
    const all = sources.reduce((sum, { revenueMicros }) => sum + revenueMicros, 0);
    const shareOf = (part: number, whole: number) => (whole === 0 ? "–" : share(part / whole));
    const ofBuyer = (title: string, cell: (row: SourceFigures) => string): Column<SourceFigures> => ({
      title,
      isNumber: true,
      cell: (row) => (row.kind === "buyer" ? cell(row) : "–"),
    });
    return [
      {
        title: words.source,
        cell: ({ kind, buyerId, name }) =>
          buyerId === null ? (
            words.kinds[kind]
          ) : (
            <Link to="/buyers/$buyerId" params={{ buyerId }} className="row-link">
              {name}
            </Link>
          ),
      },
      { title: words.revenue, isNumber: true, cell: ({ revenueMicros }) => exactMoney(revenueMicros, currency) },
      { title: words.share, isNumber: true, cell: ({ revenueMicros }) => shareOf(revenueMicros, all) },
      { title: words.shown, isNumber: true, cell: ({ shown }) => number(shown) },
      ofBuyer(words.requests, ({ requests }) => number(requests)),
      ofBuyer(words.bidRate, ({ bids, requests }) => shareOf(bids, requests)),
      ofBuyer(words.winRate, ({ wins, bids }) => shareOf(wins, bids)),
      ofBuyer(words.timeouts, ({ timeouts, requests }) => shareOf(timeouts, requests)),
    ];
  }, [words, exactMoney, number, share, currency, sources]);
  return (
    <DataTable
      label={words.sources}
      columns={columns}
      rows={sources}
      keyOf={({ kind, buyerId }) => buyerId ?? kind}
      empty={<p className="secondary">{words.none}</p>}
    />
  );
}
