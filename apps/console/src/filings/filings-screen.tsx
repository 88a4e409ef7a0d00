import { type Filing, ordRoutes } from "@intermission/operator-api/ord";
import type { FilingGap, FilingKind, FilingState } from "@intermission/operator-api/ord-words";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useAnswer, useWholeList } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { loadWords } from "../words/catalog.ts";
import { useFormats } from "../words/formats.ts";
import type { Language } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";

const filingWords = loadWords("filings") satisfies Record<
  Language,
  { kinds: Record<FilingKind, string>; states: Record<FilingState, string>; gaps: Record<FilingGap, string> }
>;

/** The form is loaded when it is opened. */
const AccountDialog = lazy(async () => ({ default: (await import("./account-dialog.tsx")).AccountDialog }));

/** Of the states, which are faults, and what follows from the others. */
const looks = {
  filed: "",
  ready: "",
  waiting: "",
  incomplete: "pill-bad",
  refused: "pill-bad",
} as const satisfies Record<FilingState, string>;
const nextSteps = {
  filed: undefined,
  ready: "next",
  waiting: "waits",
  incomplete: undefined,
  refused: undefined,
} as const satisfies Record<FilingState, "next" | "waits" | undefined>;

/** Records that are not filed at the operator of ad data (Russia), with the reason and the next step. */
export function FilingsScreen() {
  const words = useWords(filingWords);
  const { month: monthText } = useFormats();
  const account = useAnswer(ordRoutes.showOrd);
  const filings = useWholeList(ordRoutes.listFilings, { query: {} });
  const columns = useColumns();
  const may = useMay();
  const [isEdited, setEdited] = useState(false);
  const hasKey = account.data?.hasKey === true;
  return (
    <Page
      title={words.filings}
      aside={
        <>
          {filings.data && <AsOf at={filings.dataUpdatedAt} />}
          {account.data && may("setOrd") && <Button onClick={() => setEdited(true)}>{words.account}</Button>}
          {hasKey && <SyncButton />}
        </>
      }
    >
      <div className="stack">
        {account.data && !hasKey && <p className="secondary">{may("setOrd") ? words.noKey : words.noKeyYet}</p>}
        <AnswerView query={filings}>
          {({ month, filings: rows, filed, left }) => (
            <div className="stack">
              <p>
                {words.counts({ filed: String(filed), left: String(left) })} · {words.month}: {monthText(month)}
              </p>
              <DataTable
                label={words.filings}
                columns={columns}
                rows={rows}
                keyOf={({ externalId }) => externalId}
                empty={<EmptyState>{filed === 0 ? words.nothing : words.none}</EmptyState>}
              />
            </div>
          )}
        </AnswerView>
      </div>
      <Suspense>
        {isEdited && account.data && <AccountDialog account={account.data} onClose={() => setEdited(false)} />}
      </Suspense>
    </Page>
  );
}

function SyncButton() {
  const words = useWords(filingWords);
  const may = useMay();
  const notice = useNotice();
  const sync = useConfirmedChange(ordRoutes.syncOrd);
  if (!may("syncOrd")) return null;
  const file = () =>
    sync.run({ body: {} }, ({ filed, left, stopped }) => {
      const done = words.done({ filed: String(filed), left: String(left) });
      notice({ text: stopped === null ? done : `${done} ${words.stopped(stopped)}` });
    });
  return (
    <Button look="primary" isBusy={sync.isPending} onClick={() => void file()}>
      {words.sync}
    </Button>
  );
}

function useColumns(): Column<Filing>[] {
  const words = useWords(filingWords);
  return [
    { title: words.record, cell: ({ kind }) => words.kinds[kind] },
    { title: words.of, cell: (filing) => <ObjectLink {...filing} /> },
    {
      title: words.state,
      cell: ({ state }) => <span className={`pill ${looks[state]}`}>{words.states[state]}</span>,
    },
    {
      title: words.why,
      cell: ({ state, gaps, fault }) => {
        const step = nextSteps[state];
        const steps = step === undefined ? [] : [words[step]];
        return [...gaps.map((gap) => words.gaps[gap]), ...steps, ...(fault === null ? [] : [fault])].join(" ");
      },
    },
  ];
}

/** A link to the screen that edits the object's details. */
function ObjectLink({ objectId, name }: Pick<Filing, "objectId" | "name">) {
  const words = useWords(filingWords);
  const may = useMay();
  if (objectId.startsWith("adv_"))
    return (
      <Link to="/advertisers/$advertiserId" params={{ advertiserId: objectId }}>
        {name}
      </Link>
    );
  // The finance role sees no creatives.
  if (objectId.startsWith("cre_") && may("showCreative"))
    return (
      <Link to="/creatives/$creativeId" params={{ creativeId: objectId }}>
        {name}
      </Link>
    );
  if (/^\d+$/.test(objectId) && may("showBot"))
    return (
      <Link to="/bots/$botId" params={{ botId: objectId }}>
        {name}
      </Link>
    );
  if (objectId.startsWith("cre_") || /^\d+$/.test(objectId)) return name;
  return <Link to="/payouts">{name || words.own}</Link>;
}
