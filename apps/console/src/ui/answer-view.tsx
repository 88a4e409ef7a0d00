import { Link, useLocation, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CallError } from "../operator/call-operator.ts";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { Button } from "./button.tsx";
import { useNotice } from "./notices.tsx";
import { uiWords } from "./words.ts";

/** An answer, or what stands in its place: its outline while it loads, and why it failed. */
export function AnswerView<Answer>({
  query,
  children,
  rows = 4,
}: {
  /** Of TanStack Query, or several of them combined. */
  query: { data: Answer | undefined; error: Error | null; refetch: () => unknown };
  children: (answer: Answer) => ReactNode;
  /** Of the outline. */
  rows?: number;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <Failure error={query.error} onRetry={() => query.refetch()} />;
  return <Skeleton rows={rows} />;
}

export function Skeleton({ rows }: { rows: number }) {
  const words = useWords(uiWords);
  return (
    <div className="skeleton" role="status" aria-label={words.loading}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}

export function Failure({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const words = useWords(uiWords);
  const textOf = useErrorText();
  if (error instanceof CallError && (error.status === 403 || error.status === 404)) return <NotThere />;
  return (
    <div className="empty" role="alert">
      <p>
        <strong>{words.failed}</strong>
      </p>
      <p className="secondary">{textOf(error)}</p>
      {error instanceof CallError && error.code === "OTHER_VERSION" ? (
        <Button onClick={() => location.reload()}>{words.reload}</Button>
      ) : (
        <Button onClick={onRetry}>{words.retry}</Button>
      )}
    </div>
  );
}

/** In place of what does not exist or is not the person's, which no further try brings: the way back to the list. */
function NotThere() {
  const words = useWords(uiWords);
  const { pathname } = useLocation();
  const isOfList = /^(\/console)?\/(?!console\/)[^/]+\/[^/]+/.test(pathname);
  return (
    <EmptyState
      action={
        <Link to={isOfList ? ".." : "/"} className="button button-plain">
          {isOfList ? words.toList : words.toOverview}
        </Link>
      }
    >
      {words.notThere}
    </EmptyState>
  );
}

/** What a failed request says to the reader. */
export function useErrorText(): (error: Error) => string {
  const language = useLanguage();
  const words = uiWords[language];
  return (error) => {
    if (!(error instanceof CallError)) return error.message;
    if (error.code === "UNREACHABLE") return words.unreachable;
    if (error.code === "OTHER_VERSION") return words.otherVersion;
    const faults = Object.values(error.fields).map((text) => text.in(language));
    return error.texts?.in(language) ?? (faults.length > 0 ? words.checkFields(faults.join(" ")) : error.message);
  };
}

/** Says why what was asked for was refused, or could not be asked for. */
export function useFailedNotice(): (error: Error) => void {
  const notice = useNotice();
  const textOf = useErrorText();
  return (error) => notice({ text: textOf(error), look: "failed" });
}

/** One sentence, and one thing to do about it. */
export function EmptyState({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <p className="secondary">{children}</p>
      {action}
    </div>
  );
}

/** The button of an empty state that the filters of a list have made: the list without them. `keep`: what is no filter. */
export function ShowAll({ keep = [] }: { keep?: readonly string[] }) {
  const { showAll } = useWords(uiWords);
  const address: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const kept = Object.fromEntries(keep.map((name) => [name, address[name]]));
  return (
    <Link to="." search={kept} className="button button-plain">
      {showAll}
    </Link>
  );
}

/** Beside numbers that lag: when they were read. */
export function AsOf({ at }: { at: Date | number }) {
  const words = useWords(uiWords);
  return <span className="as-of">{words.asOf(useFormats().clock(at))}</span>;
}
