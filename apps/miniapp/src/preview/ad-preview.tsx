import { type AdPreviewMessage, readAdPreviewMessage } from "@intermission/ad-core/ad-preview";
import type { AdForPlayer } from "@intermission/ad-core/player-api";
import { useCallback, useEffect, useMemo, useState } from "react";
import { AboutSheet } from "../about-ad/about-sheet.tsx";
import type { Host } from "../telegram/host.ts";
import { loadVideo } from "../watch-ad/video-element.ts";
import { WatchAd } from "../watch-ad/watch-ad.tsx";
import type { Session } from "../watch-ad/watching.ts";
import { previewCalls } from "./preview-calls.ts";

/** The player with the ad that the console names, from the offer to the close, then again. No view is opened. */
export function AdPreview() {
  const [ad, setAd] = useState<AdForPlayer>();
  const [round, setRound] = useState(0);
  const restart = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    const onMessage = (message: MessageEvent) => {
      const read = message.source === window.parent ? readAdPreviewMessage(message, location.origin) : undefined;
      if (read?.kind === "ad-preview") setAd(read.ad);
    };
    window.addEventListener("message", onMessage);
    window.parent.postMessage({ kind: "ad-preview-ready" } satisfies AdPreviewMessage, location.origin);
    return () => window.removeEventListener("message", onMessage);
  }, []);
  if (ad === undefined) return null;
  return <Round key={`${round} ${JSON.stringify(ad)}`} ad={ad} onOver={restart} />;
}

function Round({ ad, onOver }: { ad: AdForPlayer; onOver: () => void }) {
  const session = useMemo(() => previewOf(ad), [ad]);
  const [video] = useState(() => loadVideo(document.createElement("video"), ad));
  const [calls] = useState(() => previewCalls(ad.duration_ms));
  const host = useMemo(() => ({ ...noClient, close: onOver }), [onOver]);
  return (
    <WatchAd
      session={session}
      video={video}
      host={host}
      calls={calls}
      onReopen={onOver}
      onAnother={onOver}
      status={<Over onOver={onOver} />}
      about={(onClose) => <AboutSheet ad={ad} sessionId="preview" token="" report={thank} onClose={onClose} />}
    />
  );
}

const nothing = () => {};
/** There is no Telegram client around the page: links open by themselves. */
const noClient: Host = {
  ready: nothing,
  close: nothing,
  openLink: () => false,
  openTelegramLink: () => false,
  haptic: nothing,
  holdOpen: nothing,
  immerse: () => nothing,
  onBack: () => nothing,
  onVisibility: () => nothing,
};

/** What a viewer who reports the ad sees; it is reported to nobody. */
const thank = async () => ({
  outcome: "answered" as const,
  body: { outcome: "recorded" as const, server_time: new Date().toISOString() },
});

/** Where a viewer sees the reward. */
function Over({ onOver }: { onOver: () => void }) {
  useEffect(onOver, [onOver]);
  return null;
}

function previewOf(ad: AdForPlayer): Session {
  const now = new Date().toISOString();
  return {
    outcome: "session",
    bot: { bot_id: "1", name: ad.advertiser },
    session_id: "preview",
    token: "",
    code: "",
    state: "opened",
    ad,
    accepted_ms: 0,
    resume_at_ms: 0,
    first_sequence: 0,
    server_time: now,
    deadline: now,
  };
}
