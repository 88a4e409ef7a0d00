import type { CodeVerdict, TimelineEntry, TimelineStep } from "@intermission/operator-api/timeline";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { EmptyState } from "../ui/answer-view.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { detailText } from "./detail-text.ts";
import { stepWords, timelineWords, verdictNames } from "./words.ts";
import "./timeline.css";

export interface Fact {
  name: string;
  value: ReactNode;
}

export function TimelineFacts({ facts, note }: { facts: readonly Fact[]; note?: string | undefined }) {
  return (
    <div className="panel stack">
      <dl className="facts timeline-facts">
        {facts.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {note !== undefined && <p className="late">{note}</p>}
    </div>
  );
}

const looks = {
  "code-issued": "plain",
  "ad-requested": "plain",
  "view-opened": "plain",
  "view-started": "plain",
  "view-watched": "plain",
  "view-closed": "plain",
  "cta-clicked": "plain",
  "click-not-counted": "late",
  "click-held": "late",
  "click-refused": "bad",
  reviewed: "late",
  earned: "good",
  converted: "good",
  refunded: "late",
  "webhook-answered": "good",
  "webhook-failed": "bad",
} satisfies Record<TimelineStep, "plain" | "good" | "bad" | "late">;

interface TimelineEntriesProps {
  entries: readonly TimelineEntry[];
  botId: string;
  currency: string;
  /** The id that was searched for: what it names stands out. */
  sought: string;
}

/** The entries of one code of a user, under what became of it. */
export function CodeEntries({
  outcome: { code, verdict },
  isOpen,
  ...of
}: TimelineEntriesProps & { outcome: { code: string | null; verdict: CodeVerdict }; isOpen: boolean }) {
  const words = useWords(timelineWords);
  const names = verdictNames[useLanguage()];
  const { dateTime } = useFormats();
  const latest = of.entries.at(-1);
  return (
    <details className="panel timeline-code" open={isOpen}>
      <summary>
        {code === null ? words.withoutCode : <code>{code}</code>}
        <span className={`pill ${pills[verdict]}`}>{names[verdict]}</span>
        {latest && <span className="secondary">{dateTime(latest.at)}</span>}
      </summary>
      <TimelineEntries {...of} />
    </details>
  );
}

const pills = {
  paid: "pill-good",
  earned: "pill-good",
  "webhook-waiting": "pill-late",
  "webhook-failed": "pill-bad",
  refunded: "pill-late",
  held: "pill-late",
  refused: "pill-bad",
  "click-not-counted": "pill-late",
  "not-closed": "pill-late",
  "left-early": "pill-late",
  "not-started": "pill-late",
  "no-ad": "pill-late",
  limited: "pill-late",
  "request-refused": "pill-bad",
  unused: "",
} satisfies Record<CodeVerdict, string>;

/** The latest first. */
export function TimelineEntries({ entries, botId, currency, sought }: TimelineEntriesProps) {
  const words = useWords(timelineWords);
  const { date } = useFormats();
  if (entries.length === 0) return <EmptyState>{words.nothing}</EmptyState>;
  const days = new Map<string, TimelineEntry[]>();
  for (const entry of entries.toReversed()) {
    const day = date(entry.at);
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return (
    <section aria-label={words.timeline} className="stack">
      {[...days].map(([day, ofDay]) => (
        <div key={day}>
          <h2>{day}</h2>
          <ol className="timeline">
            {ofDay.map((entry, index) => (
              <Entry key={index} entry={entry} botId={botId} currency={currency} isSought={entry.id === sought} />
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}

interface EntryProps {
  entry: TimelineEntry;
  botId: string;
  currency: string;
  isSought: boolean;
}

function Entry({ entry, botId, currency, isSought }: EntryProps) {
  const words = useWords(timelineWords);
  const language = useLanguage();
  const formats = useFormats();
  const { clock, dateTime, money } = formats;
  const { at, step, code, id, campaignId, amountMicros, details } = entry;
  return (
    <li className={`timeline-${looks[step]}`} aria-current={isSought || undefined}>
      <time dateTime={at.toISOString()} title={dateTime(at)}>
        {clock(at)}
      </time>
      <div>
        <p>
          <strong>{stepWords[language][step]}</strong>
          {amountMicros !== null && ` ${money(amountMicros, currency)}`}
        </p>
        {details.length > 0 && (
          <p className="secondary">{details.map((detail) => detailText(language, detail, formats)).join(" · ")}</p>
        )}
        <p className="timeline-ids">
          {code !== null && (
            <Link to="/timeline" search={{ find: code }} className="link">
              <code>{code}</code>
            </Link>
          )}
          {id !== null && <code>{id}</code>}
          {id?.startsWith("evt_") && (
            <Link to="/bots/$botId" params={{ botId }} search={{ event: id }} className="link">
              {words.webhook}
            </Link>
          )}
          {campaignId !== null && (
            <Link to="/campaigns/$campaignId" params={{ campaignId }} className="link">
              {words.campaign}
            </Link>
          )}
        </p>
      </div>
    </li>
  );
}
