import { type FoundTimeline, userRoutes } from "@intermission/operator-api/users";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { answerOf, useAnswer } from "../operator/use-operator.ts";
import { BotName } from "../session/bot-picker.tsx";
import { useMay } from "../session/use-session.ts";
import { AnswerView, AsOf, EmptyState } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { CodeEntries, type Fact, TimelineEntries, TimelineFacts } from "./timeline-entries.tsx";
import { UserVerdict, Verdict } from "./verdict.tsx";
import { timelineWords } from "./words.ts";

const EraseDialog = lazy(async () => ({ default: (await import("./erase-dialog.tsx")).EraseDialog }));

const route = getRouteApi("/shell/timeline");

/** What happened to a user or a code: any id leads to it, from the issue of the code to the answered webhook. */
export function TimelineScreen() {
  const words = useWords(timelineWords);
  const { find = "", bot } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery({
    ...answerOf(userRoutes.findTimelines, { query: { text: find } }),
    enabled: find !== "",
    select: ({ found }) => found,
  });
  return (
    <Page title={words.title} aside={found.data && <AsOf at={found.dataUpdatedAt} />}>
      <div className="list-head timeline-search">
        <SearchField
          label={words.find}
          value={find}
          onChange={(text) => void navigate({ search: { find: text || undefined }, replace: true })}
        />
      </div>
      {find === "" ? (
        <EmptyState>{words.start}</EmptyState>
      ) : (
        <AnswerView query={found}>{(all) => <Found all={all} find={find} botId={bot} />}</AnswerView>
      )}
    </Page>
  );
}

function Found({ all, find, botId }: { all: readonly FoundTimeline[]; find: string; botId: string | undefined }) {
  const words = useWords(timelineWords);
  const shown = all.length === 1 ? all[0] : all.find((one) => one.botId === botId);
  if (all.length === 0) return <EmptyState>{words.noneFound}</EmptyState>;
  if (shown === undefined) return <Choice all={all} find={find} />;
  const { code, userId } = shown;
  return code === null ? (
    <OfUser botId={shown.botId} userId={userId} sought={find} />
  ) : (
    <OfCode code={code} sought={find} />
  );
}

/** The same user of several bots. */
function Choice({ all, find }: { all: readonly FoundTimeline[]; find: string }) {
  const words = useWords(timelineWords);
  return (
    <>
      <p className="verdict" role="status">
        {words.several}
      </p>
      <ul className="stack">
        {all.map(({ botId }) => (
          <li key={botId}>
            <Link to="/timeline" search={{ find, bot: botId }} className="link">
              <BotName botId={botId} />
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

function OfUser({ botId, userId, sought }: { botId: string; userId: string; sought: string }) {
  const words = useWords(timelineWords);
  const { number, dateTime } = useFormats();
  const timeline = useAnswer(userRoutes.readTimelineOfUser, { params: { botId, userId }, query: { codes: 30 } });
  return (
    <AnswerView query={timeline} rows={8}>
      {({ earnedToday, dailyCap, lastEarnedAt, isTester, blocked, codes, entries, hasOlder, isComplete, currency }) => {
        const facts: Fact[] = [
          { name: words.user, value: userId },
          { name: words.bot, value: <BotLink botId={botId} /> },
          { name: words.earnedToday, value: words.ofCap({ earned: number(earnedToday), cap: number(dailyCap) }) },
          { name: words.lastEarned, value: lastEarnedAt === null ? words.never : dateTime(lastEarnedAt) },
        ];
        return (
          <div className="stack">
            <UserVerdict of={{ botId, userId }} latest={codes[0]} blocked={blocked} />
            <TimelineFacts facts={facts} note={isTester ? words.tester : undefined} />
            {codes.length === 0 && <EmptyState>{words.nothing}</EmptyState>}
            {codes.map((one, index) => (
              <CodeEntries
                key={one.code}
                outcome={one}
                isOpen={index === 0}
                {...{ entries: entries.filter(({ code }) => code === one.code), botId, currency, sought }}
              />
            ))}
            {hasOlder && <p className="secondary">{words.hasOlder}</p>}
            {!isComplete && <p className="late">{words.isIncomplete}</p>}
            <EraseButton botId={botId} userId={userId} />
          </div>
        );
      }}
    </AnswerView>
  );
}

function EraseButton(user: { botId: string; userId: string }) {
  const words = useWords(timelineWords);
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  if (!may("eraseUser")) return null;
  return (
    <div className="row">
      <Button look="danger" onClick={() => setOpen(true)}>
        {words.erase}
      </Button>
      <Suspense>{isOpen && <EraseDialog {...user} onClose={() => setOpen(false)} />}</Suspense>
    </div>
  );
}

function OfCode({ code, sought }: { code: string; sought: string }) {
  const words = useWords(timelineWords);
  const { dateTime } = useFormats();
  const timeline = useAnswer(userRoutes.readTimelineOfCode, { params: { code } });
  return (
    <AnswerView query={timeline} rows={8}>
      {({ botId, userId, reference, issuedAt, expiresAt, isExpired, verdict, entries, currency }) => {
        const until = `${dateTime(expiresAt)}${isExpired ? ` (${words.expired})` : ""}`;
        const user = (
          <Link to="/timeline" search={{ find: userId, bot: botId }} className="link" title={words.wholeUser}>
            {userId}
          </Link>
        );
        const facts: Fact[] = [
          { name: words.code, value: <code>{code}</code> },
          { name: words.user, value: user },
          { name: words.bot, value: <BotLink botId={botId} /> },
          ...(reference === null ? [] : [{ name: words.reference, value: reference }]),
          { name: words.issued, value: dateTime(issuedAt) },
          { name: words.expires, value: until },
        ];
        return (
          <div className="stack">
            <Verdict of={{ botId, userId }} verdict={verdict} />
            <TimelineFacts facts={facts} />
            <TimelineEntries entries={entries} botId={botId} currency={currency} sought={sought} />
          </div>
        );
      }}
    </AnswerView>
  );
}

function BotLink({ botId }: { botId: string }) {
  return (
    <Link to="/bots/$botId" params={{ botId }} className="link">
      <BotName botId={botId} />
    </Link>
  );
}
