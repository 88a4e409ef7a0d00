import type { RewardForPlayer } from "@intermission/ad-core/player-api";
import type { ReactNode } from "react";
import { formatDuration, formatMoment } from "../locales/format-time.ts";
import type { Translator } from "../locales/translate.ts";
import { Message, useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { Gain } from "../ui/gain.tsx";
import { useNow } from "../ui/hooks.ts";
import type { IconName } from "../ui/icon.tsx";
import { Notice, type NoticeTexts, type Tone } from "../ui/notice.tsx";
import { SupportCode } from "../ui/texts.tsx";
import { Interrupted } from "../watch-ad/interrupted.tsx";
import { CountedGain } from "./counted-gain.tsx";
import type { Reward } from "./describe-reward.ts";
import type { NextAd } from "./next-ad.ts";
import { RewardSteps } from "./reward-steps.tsx";
import type { RewardStatusView } from "./use-reward-status.ts";
import { useSelfClosing } from "./use-self-closing.ts";

interface RewardScreenProps {
  view: RewardStatusView;
  botName: string;
  /** What the bot's settings say that the view is worth. */
  promised: RewardForPlayer | undefined;
  /** Close this window soon after the credit, unless the user still reads. */
  isClosable: boolean;
  /** Identifies this reward in both parties' records. */
  code: string;
  onClose: () => void;
  onReopen: () => void;
  /** Requests another ad. */
  onAnother: () => void;
}

export const looks = {
  checking: { icon: "spinner", tone: "plain", haptic: null },
  "on-its-way": { icon: "spinner", tone: "plain", haptic: null },
  delayed: { icon: "clock", tone: "plain", haptic: null },
  credited: { icon: "check", tone: "good", haptic: "success" },
  delivered: { icon: "check", tone: "good", haptic: "success" },
  refused: { icon: "note", tone: "plain", haptic: "warning" },
  undelivered: { icon: "offline", tone: "bad", haptic: "warning" },
  held: { icon: "clock", tone: "plain", haptic: null },
  "view-refused": { icon: "note", tone: "plain", haptic: "warning" },
  "not-counted": { icon: "note", tone: "bad", haptic: "warning" },
} as const satisfies Record<Reward["kind"], Look>;

interface Look {
  icon: IconName | "spinner";
  tone: Tone;
  haptic: "success" | "warning" | null;
}

/** Kinds for which the user may contact support, so the code is shown. */
const kindsWithCode: readonly Reward["kind"][] = ["delayed", "refused", "undelivered", "held", "view-refused"];

/** They follow one another within a moment. */
const kindsOnTheWay: readonly Reward["kind"][] = ["checking", "on-its-way", "credited"];
/** What is not known yet: an amount of many digits. */
const SOME_AMOUNT = 10_000;

function textsOnTheWay(
  { text, amount, gain }: Translator,
  { botName, promised, isClosable }: Pick<RewardScreenProps, "botName" | "promised" | "isClosable">,
): NoticeTexts[] {
  const some = { ...promised, amount: SOME_AMOUNT };
  const expected = promised && { amount: amount(promised) };
  const credited = [text("credited.text", { balance: amount(some) })];
  return [
    { title: text("checking.title"), lines: [text("checking.text")] },
    { title: text("on-its-way.title"), ...expected, lines: [text("on-its-way.text", { bot: botName })] },
    {
      title: text("credited.title"),
      // The icon is as wide as these spaces.
      amount: [promised?.icon_url && "\u2003\u00a0", ...gain(promised ?? some)].join(""),
      lines: isClosable ? [...credited, text("credited.closing")] : credited,
    },
  ];
}

/** One screen for all states of a reward. */
export function RewardScreen(props: RewardScreenProps) {
  const { view, botName, promised, code, onClose, onReopen, onAnother } = props;
  const translator = useTranslator();
  const { text, amount, gain } = translator;
  const { reward, steps, isOffline, isSuperseded, nextAd } = view;
  // A place in a channel has no number. The bot has let its user in when it has accepted the webhook.
  const place = reward.kind === "delivered" && promised && !gain(promised)[0] && amount(promised);
  const isClosing = useSelfClosing(props.isClosable && reward.kind === "credited", onClose);
  if (isSuperseded)
    return <Interrupted stage="superseded" onClose={onClose} onReopen={onReopen} onAnother={onAnother} />;
  const { icon, tone } = looks[reward.kind];
  const isIncomplete = reward.kind === "not-counted";
  return (
    <Notice
      isLive
      roomFor={kindsOnTheWay.includes(reward.kind) ? textsOnTheWay(translator, props) : []}
      state={`status-${reward.kind}`}
      icon={icon}
      tone={tone}
      isCelebrated={reward.kind === "credited"}
      title={
        <Message id={place ? "watched.named" : `${reward.kind}.title`} values={{ bot: botName, reward: place || "" }} />
      }
      below={
        <>
          <RewardSteps steps={steps} />
          {kindsWithCode.includes(reward.kind) ? <SupportCode id={code} /> : null}
        </>
      }
      action={
        <>
          {nextAd?.when === "now" ? (
            <Button className="button button-primary next-offer" onClick={onAnother}>
              <AnotherAd promised={promised} ofToday={nextAd.ofToday} />
            </Button>
          ) : null}
          {nextAd?.when === "later" ? <NextAdTimer {...nextAd} /> : null}
          <Button look={nextAd?.when === "now" ? "secondary" : "primary"} onClick={isIncomplete ? onReopen : onClose}>
            {text(isIncomplete ? "action.continue" : "action.close")}
          </Button>
        </>
      }
    >
      {isOffline ? (
        <p className="secondary">{text(reward.kind === "checking" ? "player.offline" : "unreachable.text")}</p>
      ) : place ? null : (
        <Explanation reward={reward} botName={botName} promised={promised} isClosing={isClosing} />
      )}
    </Notice>
  );
}

interface AnotherAdProps {
  promised: RewardForPlayer | undefined;
  ofToday: Extract<NextAd, { when: "now" }>["ofToday"];
}

/** What the button offers: `Watch another ad`, below it `+10 coins  2 of 5 today`. */
function AnotherAd({ promised, ofToday }: AnotherAdProps) {
  const { text } = useTranslator();
  return (
    <span>
      {text("action.another")}
      {promised || ofToday ? (
        <span className="next-offer-facts">
          {promised ? <Gain {...promised} /> : null}
          {ofToday ? (
            <span className={promised ? "apart" : undefined}>
              {" "}
              <Message id="credited.ofToday" values={ofToday} />
            </span>
          ) : null}
        </span>
      ) : null}
    </span>
  );
}

/** Counts down to the end of a cooldown; the end of the day is a time of the clock. */
function NextAdTimer({ untilMs, isDayOver }: Extract<NextAd, { when: "later" }>) {
  const { language } = useTranslator();
  const nowMs = useNow(500);
  return isDayOver ? (
    <p className="foot-note">
      <Message id="daily-cap.text" values={{ moment: formatMoment(new Date(untilMs), new Date(nowMs), language) }} />
    </p>
  ) : (
    <p className="foot-note" role="timer">
      <Message id="credited.nextAd" values={{ time: formatDuration(untilMs - nowMs, language) }} />
    </p>
  );
}

interface ExplanationProps {
  reward: Reward;
  botName: string;
  promised: RewardForPlayer | undefined;
  isClosing: boolean;
}

function Explanation({ reward, botName, promised, isClosing }: ExplanationProps): ReactNode {
  const { text, amount } = useTranslator();
  switch (reward.kind) {
    case "credited":
      return (
        <>
          <p className="amount">
            <CountedGain {...promised} amount={reward.amount} />
          </p>
          <p className="secondary">
            <Message id="credited.text" values={{ balance: amount({ ...promised, amount: reward.balance }) }} />
          </p>
          {isClosing ? <p className="secondary">{text("credited.closing")}</p> : null}
        </>
      );
    case "refused":
      return <p className="secondary">{text(`refused.${reward.reason}`)}</p>;
    case "undelivered":
    case "view-refused":
    case "on-its-way":
      return (
        <>
          {reward.kind === "on-its-way" && promised ? (
            <p className="amount amount-expected">
              <bdi>{amount(promised)}</bdi>
            </p>
          ) : null}
          <p className="secondary">
            <Message id={`${reward.kind}.text`} values={{ bot: botName }} />
          </p>
        </>
      );
    default:
      return <p className="secondary">{text(`${reward.kind}.text`)}</p>;
  }
}
