import { type ReactNode, useEffect, useRef, useState } from "react";
import { Message, useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { LinkOutside } from "../ui/link-outside.tsx";
import { captionAt } from "./caption-at.ts";
import { useCaptions } from "./use-captions.ts";
import { usePlayerKeys } from "./use-player-keys.ts";
import type { Session, WatchingActions, WatchingSnapshot } from "./watching.ts";

interface PlayerControlsProps {
  session: Session;
  actions: WatchingActions;
  snapshot: WatchingSnapshot;
  host: Host;
}

/** The overlay of the running video. */
export function PlayerControls({ session, actions, snapshot, host }: PlayerControlsProps) {
  const { text, language } = useTranslator();
  const { ad } = session;
  const { player } = snapshot;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  usePlayerKeys(actions, snapshot);
  const captions = useCaptions(ad, language);
  const [areCaptionsWanted, wantCaptions] = useState<boolean>();
  // A muted ad shows captions until the user turns them off.
  const areCaptionsOn = areCaptionsWanted ?? player.isMuted;
  const caption = captions && areCaptionsOn ? captionAt(captions.cues, player.positionMs) : "";
  const seconds = secondsLeft(session, snapshot);
  const share = Math.min(1, player.positionMs / ad.duration_ms);
  const link = ad.call_to_action;
  const isRunning = player.playback === "playing" || player.playback === "buffering";
  return (
    <div className="controls">
      <h1 ref={heading} className="only-heard" tabIndex={-1}>
        {text("player.label", { advertiser: ad.advertiser })}
      </h1>
      <div className="controls-top">
        <p className="chip">
          <span className="ad-badge">{text("adLabel")}</span> <bdi className="chip-name">{ad.advertiser}</bdi>
        </p>
        <Button look="on-video" aria-label={text("action.close")} onClick={actions.askToClose}>
          <Icon name="close" />
        </Button>
      </div>
      <PlaybackNote actions={actions} snapshot={snapshot} />
      <div className="controls-foot">
        {caption ? (
          <p className="caption" lang={captions?.language} dir="auto">
            <span>{caption}</span>
          </p>
        ) : null}
        {snapshot.isConnected ? null : (
          <p className="chip" role="status">
            {text("player.offline")}
          </p>
        )}
        <div className="controls-row">
          <Button
            look="on-video"
            aria-label={text(player.isMuted ? "action.unmute" : "action.mute")}
            onClick={() => actions.setMuted(!player.isMuted)}
          >
            <Icon name={player.isMuted ? "sound-off" : "sound-on"} />
          </Button>
          {captions ? (
            <Button
              look="on-video"
              aria-label={text("action.captions")}
              aria-pressed={areCaptionsOn}
              onClick={() => wantCaptions(!areCaptionsOn)}
            >
              <Icon name={areCaptionsOn ? "captions" : "captions-off"} />
            </Button>
          ) : null}
          {snapshot.stage === "playing" && isRunning ? (
            <Button look="on-video" aria-label={text("action.pause")} onClick={actions.pause}>
              <Icon name="pause" />
            </Button>
          ) : null}
          {link ? <LinkOutside url={link.url} label={link.label} host={host} /> : null}
        </div>
        <div className="controls-row">
          <div
            className="progress"
            role="progressbar"
            aria-label={text("player.progress")}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={Math.round(share * 100)}
          >
            <div className="progress-bar" style={{ transform: `scaleX(${share})` }} />
          </div>
          <p key={seconds} className="chip chip-time" role="timer">
            <Message id="secondsLeft" values={{ count: seconds }} />
          </p>
        </div>
      </div>
    </div>
  );
}

export function secondsLeft({ ad }: Session, { player }: WatchingSnapshot): number {
  return Math.max(0, Math.ceil((ad.duration_ms - player.positionMs) / 1000));
}

/** In the centre: why playback is stopped, and what to tap. */
function PlaybackNote({ actions, snapshot }: { actions: WatchingActions; snapshot: WatchingSnapshot }) {
  const { text } = useTranslator();
  const { playback, holds } = snapshot.player;
  const tap = (label: string, note?: ReactNode) => (
    <div className="middle">
      {note}
      <Button look="tap" onClick={actions.play}>
        <span className="tap-circle">
          <Icon name="play" />
        </span>
        {label}
      </Button>
    </div>
  );
  if (snapshot.stage === "confirming") return <Waiting label={text("player.confirming")} />;
  if (playback === "blocked") return tap(text("player.tapToPlay"));
  if (playback === "stalled") return tap(text("action.tryAgain"), <p role="status">{text("player.stalled")}</p>);
  if (playback === "held" && holds.has("paused")) return tap(text("action.play"));
  if (playback === "held" && holds.has("away")) return tap(text("player.tapToContinue"));
  if (playback === "buffering") return <Waiting label={text("player.buffering")} />;
  return <div className="middle" />;
}

function Waiting({ label }: { label: string }) {
  return (
    <div className="middle">
      <div className="waiting" role="status">
        <span className="spinner" />
        <p>{label}</p>
      </div>
    </div>
  );
}
