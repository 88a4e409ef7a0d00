import { useEffect, useState } from "react";
import { Message, useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Heading } from "../ui/texts.tsx";
import { AdFoot } from "./player-controls.tsx";
import type { Session } from "./watching.ts";

interface EndCardProps {
  session: Session;
  ad: Session["ad"];
  /** False: the view is watched, and will not simply be paid. */
  isPayable: boolean;
  isConnected: boolean;
  host: Host;
  onAbout: () => void;
  onClose: () => void;
}

/**
 * The ad as the end card shows it. An advertiser's picture takes the place of the poster once it is loaded, which begins
 * when the video `isEnding`; if it fails to load, nothing changes.
 */
export function useEndCard(ad: Session["ad"], isEnding: boolean): Session["ad"] {
  const [shown, setShown] = useState(ad);
  useEffect(() => {
    const card = ad.end_card;
    if (!card || !isEnding) return;
    const picture = new Image();
    picture.onload = () => setShown({ ...ad, ...card });
    picture.src = card.poster_url;
  }, [ad, isEnding]);
  return shown;
}

/**
 * The advertiser's moment after the video: its picture or poster, or else the last frame, and a large call to action. The
 * view is watched; the pill closes it and leads to the reward.
 */
export function EndCard({ session, ad, isPayable, isConnected, host, onAbout, onClose }: EndCardProps) {
  const { text, amount } = useTranslator();
  const reward = session.rewards?.rewarded;
  const title = text("watched.title");
  const earned = reward ? <Message id="watched.named" values={{ reward: amount(reward) }} /> : text("watched.earned");
  return (
    <>
      {ad.poster_url ? <img className="video-slot end-picture" src={ad.poster_url} alt="" /> : null}
      <div className="controls">
        <Heading className="only-heard">
          {isPayable ? <>{earned}. </> : null}
          {title}
        </Heading>
        <Button className="pill pill-button" onClick={onClose}>
          <span className="pill-mark">
            <Icon name="check" />
          </span>
          <span className="pill-text">{isPayable ? earned : title}</span>
          <span className="pill-close">{text("action.close")}</span>
        </Button>
        {isConnected ? null : <p className="chip">{text("player.offline")}</p>}
        <div className="middle" />
        <AdFoot ad={ad} look="primary" host={host} onAbout={onAbout} />
      </div>
    </>
  );
}
