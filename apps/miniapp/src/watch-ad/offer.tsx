import { Message, useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { Gain } from "../ui/gain.tsx";
import { Heading } from "../ui/texts.tsx";
import { AdLabel } from "./ad-label.tsx";
import type { Session } from "./watching.ts";

interface OfferProps {
  session: Session;
  isMuted: boolean;
  onSetMuted: (isMuted: boolean) => void;
  onWatch: () => void;
  onAbout: () => void;
}

export function Offer({ session, isMuted, onSetMuted, onWatch, onAbout }: OfferProps) {
  const { text, amount } = useTranslator();
  const { ad, bot, accepted_ms: acceptedMs } = session;
  const reward = session.rewards?.rewarded;
  const isBegun = acceptedMs > 0;
  const seconds = Math.max(1, Math.ceil((ad.duration_ms - session.resume_at_ms) / 1000));
  return (
    <>
      <div className="offer-body">
        <Heading>
          {reward ? (
            <Message id="offer.named" values={{ count: seconds, reward: amount(reward) }} />
          ) : (
            text("offer.title")
          )}
        </Heading>
        <p className="secondary">
          <Message id="offer.from" values={{ bot: bot.name }} />
        </p>
        <dl className="facts">
          <div>
            <dt>{text("offer.length")}</dt>
            <dd>
              <span>
                <Message id={isBegun ? "secondsLeft" : "seconds"} values={{ count: seconds }} />
              </span>
            </dd>
          </div>
          <div>
            <dt>{text("offer.advertiser")}</dt>
            <dd>
              <AdLabel onAbout={onAbout} />
              <bdi>{ad.advertiser}</bdi>
            </dd>
          </div>
          <div className="facts-switch">
            <dt>{text("offer.sound")}</dt>
            <dd>
              <Button
                className="switch"
                role="switch"
                aria-label={text("offer.sound")}
                aria-checked={!isMuted}
                onClick={() => onSetMuted(!isMuted)}
              />
            </dd>
          </div>
        </dl>
      </div>
      <div className="foot">
        <Button onClick={onWatch}>
          <span>
            {text(isBegun ? "action.continue" : "action.watch")}
            {reward ? (
              <span className="apart">
                {" "}
                <Gain {...reward} />
              </span>
            ) : null}
          </span>
        </Button>
      </div>
    </>
  );
}
