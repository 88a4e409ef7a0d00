import { type ReactNode, useCallback, useState } from "react";
import { AboutAd, OldClientEntry, OutsideEntry, Refusal } from "./entry/lazy-entries.tsx";
import { UnreachableEntry } from "./entry/unreachable-entry.tsx";
import { OpeningEntry, WaitEntry } from "./entry/wait-entry.tsx";
import { StatusScreen, usePreparedStatus } from "./reward-status/status-screen.tsx";
import type { Host } from "./telegram/host.ts";
import { useNews } from "./telegram/use-news.ts";
import { type Start, useAdSession } from "./watch-ad/use-ad-session.ts";
import { WatchAd } from "./watch-ad/watch-ad.tsx";
import type { Session } from "./watch-ad/watching.ts";

interface AppProps {
  start: Start;
  host: Host;
}

export function App({ start, host }: AppProps) {
  const { botId, initData, version } = start.launch;
  // Telegram opened the page, and signs no data for a button of a reply keyboard.
  if (!initData && version) return <Refusal code="INIT_DATA_WITHOUT_USER" host={host} onAnother={host.close} />;
  if (!botId || !initData) return <OutsideEntry host={host} />;
  return <Opened start={start} initData={initData} host={host} />;
}

function Opened({ start, initData, host }: AppProps & { initData: string }) {
  const { opening, reopen, openAnother, prepareAnother } = useAdSession(start);
  const [hasReplaced, setReplaced] = useState(false);
  const replaceBroken = useCallback(() => {
    setReplaced(true);
    reopen();
  }, [reopen]);
  // A constant of the build.
  if (import.meta.env.IN_APP) useNews(host, opening);
  usePreparedStatus(opening.phase === "watch" ? opening : null, initData);
  const status = (session: Session, isWatchedHere?: boolean): ReactNode => (
    <StatusScreen
      session={session}
      isWatchedHere={isWatchedHere}
      initData={initData}
      host={host}
      onReopen={reopen}
      onAnother={openAnother}
      onNextMedia={prepareAnother}
    />
  );

  switch (opening.phase) {
    case "opening":
      return <OpeningEntry />;
    case "refused":
      return (
        <Refusal
          code={opening.code}
          requestId={opening.requestId}
          botLink={opening.botLink}
          host={host}
          onAnother={openAnother}
        />
      );
    case "wait":
      return <WaitEntry reason={opening.reason} untilMs={opening.untilMs} host={host} onReopen={reopen} />;
    case "closed":
      return status(opening.session);
    case "watch":
      return (
        <WatchAd
          key={opening.session.token}
          session={hasReplaced ? withoutOffer(opening.session) : opening.session}
          video={opening.video}
          host={host}
          onReopen={reopen}
          onAnother={openAnother}
          onBroken={hasReplaced ? undefined : replaceBroken}
          status={status(opening.session, true)}
          about={(onClose) => <AboutAd {...aboutProps(opening.session)} onClose={onClose} />}
        />
      );
    case "unreachable":
      return <UnreachableEntry onRetry={reopen} />;
    case "unplayable":
      return <OldClientEntry host={host} />;
    default:
      return opening satisfies never;
  }
}

const aboutProps = ({ ad, session_id: sessionId, token }: Session) => ({ ad, sessionId, token });

/** The user has started an ad already, whose video does not play: its replacement starts by itself. */
function withoutOffer(session: Session): Session {
  return { ...session, bot: { ...session.bot, skip_offer: true } };
}
