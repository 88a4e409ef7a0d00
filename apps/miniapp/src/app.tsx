import { lazy, type ReactNode, Suspense, useEffect } from "react";
import type { EarlyStart } from "./early-start.ts";
import { loadRewardStatus } from "./load-reward-status.ts";
import { useTranslator } from "./locales/use-translator.tsx";
import type { Host } from "./telegram/host.ts";
import { Button } from "./ui/button.tsx";
import { Notice } from "./ui/notice.tsx";
import { RefusedEntry } from "./watch-ad/refused-entry.tsx";
import { useAdSession } from "./watch-ad/use-ad-session.ts";
import { WaitEntry } from "./watch-ad/wait-entry.tsx";
import { WatchAd } from "./watch-ad/watch-ad.tsx";
import type { Session } from "./watch-ad/watching.ts";

interface AppProps {
  early: EarlyStart;
  host: Host;
}

const RewardStatus = lazy(async () => ({ default: (await loadRewardStatus()).RewardStatus }));

export function App({ early, host }: AppProps) {
  const { botId, initData } = early.launch;
  if (!botId || !initData) return <OutsideTelegram />;
  return <Opened early={early} initData={initData} host={host} />;
}

function Opened({ early, initData, host }: AppProps & { initData: string }) {
  const { text } = useTranslator();
  const { opening, reopen } = useAdSession(early);
  const video = opening.phase === "watch" ? opening.video : undefined;
  useEffect(() => video?.addEventListener("canplay", () => loadRewardStatus(), { once: true }), [video]);
  const status = (session: Session): ReactNode => (
    <Suspense fallback={<Opening />}>
      <RewardStatus session={session} initData={initData} host={host} onReopen={reopen} />
    </Suspense>
  );

  switch (opening.phase) {
    case "opening":
      return <Opening />;
    case "refused":
      return <RefusedEntry code={opening.code} host={host} />;
    case "wait":
      return <WaitEntry reason={opening.reason} untilMs={opening.untilMs} host={host} onReopen={reopen} />;
    case "rewarded":
      return status(opening.session);
    case "watch":
      return (
        <WatchAd
          key={opening.session.token}
          session={opening.session}
          video={opening.video}
          host={host}
          onReopen={reopen}
          status={status(opening.session)}
        />
      );
    case "unreachable":
      return (
        <Notice
          state="unreachable"
          icon="offline"
          title={text("unreachable.title")}
          action={<Button onClick={reopen}>{text("action.tryAgain")}</Button>}
        >
          <p className="secondary">{text("unreachable.text")}</p>
        </Notice>
      );
  }
}

function Opening() {
  const { text } = useTranslator();
  return <Notice isLive state="opening" icon="spinner" title={text("opening")} />;
}

function OutsideTelegram() {
  const { text } = useTranslator();
  return (
    <Notice state="outside-telegram" icon="telegram" title={text("outside-telegram.title")}>
      <p className="secondary">{text("outside-telegram.text")}</p>
    </Notice>
  );
}
