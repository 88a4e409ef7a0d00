import { type PartnerDifference, partnerReportRoutes } from "@intermission/operator-api/partner-reports";
import { useMemo, useState } from "react";
import { useAnswer } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView } from "../ui/answer-view.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { Field } from "../ui/field.tsx";
import { FileButton } from "../ui/file-button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { partnerReportWords } from "./words.ts";

const columnNames = ["day", "impressions", "amount", "timeZone"] as const;
const usual = { day: "date", impressions: "impressions", amount: "revenue", timeZone: "UTC" };

/** A partner's own report, imported, and the days that differ from what was shown here. */
export function PartnerReports({ buyerId }: { buyerId: string }) {
  const words = useWords(partnerReportWords);
  const may = useMay();
  const [threshold, setThreshold] = useState("2");
  const differences = useAnswer(partnerReportRoutes.listPartnerDifferences, { query: { buyerId, threshold } });
  return (
    <section className="panel stack" aria-labelledby="partner-report">
      <h2 id="partner-report">{words.title}</h2>
      <p className="hint">{words.hint}</p>
      {may("importPartnerReport") && <Import buyerId={buyerId} />}
      <Field label={words.threshold}>
        {(props) => (
          <select {...props} value={threshold} onChange={(event) => setThreshold(event.target.value)}>
            {["0", "2", "5"].map((percent) => (
              <option key={percent} value={percent}>
                {words.above(percent)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <AnswerView query={differences}>
        {({ differences: rows, currency, days }) => <Differences rows={rows} currency={currency} days={days} />}
      </AnswerView>
    </section>
  );
}

function Import({ buyerId }: { buyerId: string }) {
  const words = useWords(partnerReportWords);
  const notice = useNotice();
  const [query, setQuery] = useState(usual);
  const change = useConfirmedChange(partnerReportRoutes.importPartnerReport);
  const onFile = (body: File) =>
    void change.run({ params: { buyerId }, query, body }, ({ days }) => notice({ text: words.imported(days) }));
  return (
    <>
      <div className="row">
        {columnNames.map((name) => (
          <Field key={name} label={words.columns[name]}>
            {(props) => (
              <input
                {...props}
                value={query[name]}
                maxLength={128}
                onChange={(event) => setQuery({ ...query, [name]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
      <FileButton accept=".csv,text/csv,text/plain" isBusy={change.isPending} onFile={onFile}>
        {words.choose}
      </FileButton>
      {change.dialog}
    </>
  );
}

const pillOf = { green: "pill-good", amber: "pill-late", red: "pill-bad" } as const;

function Differences({ rows, currency, days }: { rows: readonly PartnerDifference[]; currency: string; days: number }) {
  const words = useWords(partnerReportWords);
  const { exactMoney, number } = useFormats();
  const columns = useMemo(
    (): Column<PartnerDifference>[] => [
      { title: words.columns.day, cell: ({ day, timeZone }) => `${day} ${timeZone}` },
      { title: words.theirs, isNumber: true, cell: ({ theirMicros }) => exactMoney(theirMicros, currency) },
      { title: words.ours, isNumber: true, cell: ({ ourMicros }) => exactMoney(ourMicros, currency) },
      {
        title: words.difference,
        isNumber: true,
        cell: ({ differencePercent: percent, level }) => (
          <span className={`pill ${pillOf[level]}`}>
            {percent === null ? words.onlyTheirs : words.percent(number(percent))}
          </span>
        ),
      },
      {
        title: words.columns.impressions,
        isNumber: true,
        cell: ({ theirImpressions, ourImpressions }) =>
          `${theirImpressions === null ? "–" : number(theirImpressions)} / ${number(ourImpressions)}`,
      },
    ],
    [words, exactMoney, number, currency],
  );
  const none = days === 0 ? words.noReport : words.noDifference(days);
  return (
    <DataTable
      label={words.title}
      columns={columns}
      rows={rows}
      keyOf={({ day }) => day}
      empty={<p className="secondary">{none}</p>}
    />
  );
}
