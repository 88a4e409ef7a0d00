import { useEffect, useRef } from "react";
import { Message, useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { AdFoot } from "./player-controls.tsx";
import type { Session } from "./watching.ts";

/**
 * The advertiser's moment after the video: its poster, or else the last frame, and a large call to action. The view is
 * watched; the pill closes it and leads to the reward.
 */
export function EndCard({ session, host, onClose }: { session: Session; host: Host; onClose: () => void }) {
  const { text, amount } = useTranslator();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const { ad } = session;
  const reward = session.rewards?.rewarded;
  const earned = reward ? (
    <Message id="watched.named" values={{ reward: amount(reward.amount, reward.unit) }} />
  ) : (
    text("watched.earned")
  );
  return (
    <>
      {ad.poster_url ? (
        <img
          className="video-slot end-picture"
          src={ad.poster_url}
          alt=""
          style={{ aspectRatio: `${ad.width} / ${ad.height}` }}
        />
      ) : null}
      <div className="controls">
        <h1 ref={heading} className="only-heard" tabIndex={-1}>
          {text("watched.title")}
        </h1>
        <p className="only-heard" role="status">
          {earned}
        </p>
        <Button className="pill pill-button" onClick={onClose}>
          <span className="pill-mark">
            <Icon name="check" />
          </span>
          <span>{earned}</span>
          <span className="pill-close">{text("action.close")}</span>
        </Button>
        <div className="middle" />
        <AdFoot ad={ad} look="primary" host={host} />
      </div>
    </>
  );
}
