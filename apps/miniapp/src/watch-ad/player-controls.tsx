import { type ReactNode, useEffect, useState } from "react";
import { countClick } from "../ad-service-client.ts";
import type { Translator } from "../locales/translate.ts";
import { useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { LinkOutside } from "../ui/link-outside.tsx";
import { Heading } from "../ui/texts.tsx";
import { AdLabel } from "./ad-label.tsx";
import { Caption, useCaptions } from "./captions.tsx";
import { isInterstitial, SkipButton, SkipTimer } from "./interstitial.tsx";
import { ProgressRing } from "./progress-ring.tsx";
import type { Session, WatchingActions, WatchingSnapshot } from "./watching.ts";

interface PlayerControlsProps {
  session: Session;
  actions: WatchingActions;
  snapshot: WatchingSnapshot;
  host: Host;
}

/** The overlay of the running video. Only the call to action is over the lower third of the picture. */
export function PlayerControls({ session, actions, snapshot, host }: PlayerControlsProps) {
  const translator = useTranslator();
  const { text } = translator;
  const { ad } = session;
  const { stage, isMuted, playback, positionMs } = snapshot;
  usePlayerKeys(actions, snapshot);
  const captions = useCaptions(ad);
  const [captionsChoice, chooseCaptions] = useState<boolean>();
  // A muted ad shows captions until the user turns them off.
  const areCaptionsOn = captionsChoice ?? isMuted;
  return (
    <div className="controls">
      <Heading className="only-heard">{text("player.label", { advertiser: ad.advertiser })}</Heading>
      <div className={import.meta.env.IN_APP && isInterstitial(session) ? "pill pill-skip" : "pill"}>
        <ProgressRing
          label={text("player.progress")}
          positionMs={positionMs}
          durationMs={ad.duration_ms}
          isRunning={playback === "playing"}
        />
        <div className="pill-words">
          {import.meta.env.IN_APP && isInterstitial(session) ? (
            <SkipTimer session={session} snapshot={snapshot} />
          ) : stage === "confirming" ? (
            <p>{text("player.confirming")}</p>
          ) : (
            // One text: in parts, the last of them would move when the number loses a digit.
            <p role="timer">{rewardIn(translator, session, secondsLeft(session, snapshot))}</p>
          )}
          <p className="pill-brand">
            <AdLabel onAbout={actions.openAbout} /> <bdi className="chip-name">{ad.advertiser}</bdi>
          </p>
        </div>
        {import.meta.env.IN_APP && isInterstitial(session) ? (
          <SkipButton session={session} snapshot={snapshot} actions={actions} />
        ) : (
          <Button look="on-video" aria-label={text("action.close")} onClick={actions.askToClose}>
            <Icon name="close" />
          </Button>
        )}
      </div>
      <div className="tools">
        {snapshot.isConnected ? null : <p className="chip">{text("player.offline")}</p>}
        {captions ? (
          <Button
            look="on-video"
            aria-label={text("action.captions")}
            aria-pressed={areCaptionsOn}
            onClick={() => chooseCaptions(!areCaptionsOn)}
          >
            <Icon name={areCaptionsOn ? "captions" : "captions-off"} />
          </Button>
        ) : null}
        {/* One button for both, so that the focus stays. It keeps its place, so that the other buttons do not move. */}
        <Button
          look="on-video"
          data-focus-home=""
          aria-label={text(isRunning(playback) ? "action.pause" : "action.play")}
          style={{ visibility: stage === "playing" ? "visible" : "hidden" }}
          onClick={isRunning(playback) ? actions.pause : actions.play}
        >
          <Icon name={isRunning(playback) ? "pause" : "play"} />
        </Button>
        <Button
          look="on-video"
          aria-label={text(isMuted ? "action.unmute" : "action.mute")}
          onClick={() => actions.setMuted(!isMuted)}
        >
          <Icon name={isMuted ? "sound-off" : "sound-on"} />
        </Button>
      </div>
      <p className="only-heard" role="status">
        {announcementOf(snapshot, text)}
      </p>
      <PlaybackNote actions={actions} snapshot={snapshot} />
      {captions && areCaptionsOn ? <Caption captions={captions} positionMs={positionMs} /> : null}
      <AdFoot ad={ad} look="outside" host={host} onAbout={actions.openAbout} onOpened={actions.goOutside} />
    </div>
  );
}

function rewardIn({ text, gainText }: Translator, { rewards }: Session, count: number): string {
  const reward = rewards?.rewarded;
  return reward ? text("player.namedIn", { reward: gainText(reward), count }) : text("player.rewardIn", { count });
}

/** What screen readers announce: one thing at a time, the most important first. */
function announcementOf(
  { stage, playback, isConnected }: WatchingSnapshot,
  text: ReturnType<typeof useTranslator>["text"],
): string {
  if (!isConnected) return text("player.offline");
  if (stage === "confirming") return text("player.confirming");
  if (playback === "stalled") return text("player.stalled");
  return playback === "buffering" ? text("player.buffering") : "";
}

interface AdFootProps {
  ad: Session["ad"];
  look: "outside" | "primary";
  host: Host;
  onAbout: () => void;
  /** The call to action was followed. */
  onOpened?: (() => void) | undefined;
}

/** The advertiser and its call to action: below the picture where there is room, else only the call to action, over it. */
export function AdFoot({ ad, look, host, onAbout, onOpened }: AdFootProps) {
  const { text } = useTranslator();
  const link = ad.call_to_action;
  return (
    <div className="stage-foot">
      <p className="brand">
        <AdLabel onAbout={onAbout} /> <bdi className="chip-name">{ad.advertiser}</bdi>
      </p>
      {link ? (
        <LinkOutside
          look={look}
          host={host}
          url={link.url}
          telegramLink={link.opens?.in === "telegram" ? link.opens.link : undefined}
          label={link.label ?? text("action.learnMore")}
          onOpened={(isInTelegram) => {
            if (isInTelegram) countClick(link.url);
            onOpened?.();
          }}
        />
      ) : null}
    </div>
  );
}

export function secondsLeft({ ad }: Session, { positionMs }: WatchingSnapshot): number {
  return Math.max(0, Math.ceil((ad.duration_ms - positionMs) / 1000));
}

/** In the centre: why playback is stopped, and what to tap. */
function PlaybackNote({ actions, snapshot }: { actions: WatchingActions; snapshot: WatchingSnapshot }) {
  const { text } = useTranslator();
  const { stage, playback, holds } = snapshot;
  const tap = (label: string, note?: ReactNode) => (
    <div className="middle">
      {note}
      <Button look="tap" onClick={actions.play}>
        <TapMark label={label} />
      </Button>
    </div>
  );
  if (stage === "playing") {
    if (playback === "blocked") return tap(text("player.tapToPlay"));
    if (playback === "stalled") return tap(text("action.tryAgain"), <p>{text("player.stalled")}</p>);
    if (playback === "held" && holds.has("paused")) {
      return (
        <div className="middle">
          {/* A larger target for fingers: the button of the same name has the focus. */}
          <Button look="tap" tabIndex={-1} aria-hidden="true" onClick={actions.play}>
            <TapMark label={text("action.play")} />
          </Button>
        </div>
      );
    }
    if (playback === "held" && (holds.has("away") || holds.has("outside"))) return tap(text("player.tapToContinue"));
    if (playback === "buffering") {
      return (
        <div className="middle">
          <div className="waiting">
            <span className="spinner" />
            <p>{text("player.buffering")}</p>
          </div>
        </div>
      );
    }
  }
  return <div className="middle" />;
}

function TapMark({ label }: { label: string }) {
  return (
    <>
      <span className="tap-circle">
        <Icon name="play" />
      </span>
      {label}
    </>
  );
}

/** On a desktop: space pauses and plays, M mutes and unmutes. Keys pressed on a button or a link are left to it. */
function usePlayerKeys(actions: WatchingActions, { stage, holds, playback, isMuted }: WatchingSnapshot): void {
  const isPlaying = isRunning(playback);
  const isListening = stage === "playing" && !holds.has("dialog") && !holds.has("about");
  useEffect(() => {
    if (!isListening) return;
    const onKey = (event: KeyboardEvent) => {
      const isOfControl = event.target instanceof Element && event.target.closest("button, a") !== null;
      if (isOfControl || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.code === "Space") {
        event.preventDefault();
        if (isPlaying) actions.pause();
        else actions.play();
      } else if (event.code === "KeyM") actions.setMuted(!isMuted);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [actions, isListening, isPlaying, isMuted]);
}

function isRunning(playback: WatchingSnapshot["playback"]): boolean {
  return playback === "playing" || playback === "buffering";
}
