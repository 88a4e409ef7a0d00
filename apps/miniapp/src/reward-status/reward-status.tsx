import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { Message, useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import type { IconName } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import type { Session } from "../watch-ad/watching.ts";
import type { Reward } from "./describe-reward.ts";
import { useRewardStatus } from "./use-reward-status.ts";

interface RewardStatusProps {
  session: Session;
  initData: string;
  host: Host;
  onReopen: () => void;
}

const looks = {
  checking: { icon: "spinner", tone: "plain" },
  "on-its-way": { icon: "spinner", tone: "plain" },
  delayed: { icon: "clock", tone: "plain" },
  credited: { icon: "check", tone: "good" },
  delivered: { icon: "check", tone: "good" },
  refused: { icon: "note", tone: "bad" },
  undelivered: { icon: "offline", tone: "bad" },
  "not-counted": { icon: "note", tone: "bad" },
} as const satisfies Record<Reward["kind"], { icon: IconName | "spinner"; tone: "plain" | "good" | "bad" }>;

// The browser's own idea of being online is often wrong inside web views; a request that fails tells the truth.
const always = { networkMode: "always" } as const;
const queryClient = new QueryClient({ defaultOptions: { queries: always, mutations: always } });

/** Always says where the reward is, also when the app is opened again later. */
export function RewardStatus(props: RewardStatusProps) {
  return (
    <QueryClientProvider client={queryClient}>
      <Status {...props} />
    </QueryClientProvider>
  );
}

function Status({ session, initData, host, onReopen }: RewardStatusProps) {
  const { text } = useTranslator();
  const { reward, isOffline, isSuperseded } = useRewardStatus(session, initData);
  const { icon, tone } = looks[reward.kind];
  useEffect(() => {
    if (tone !== "plain") host.haptic(tone === "good" ? "success" : "warning");
  }, [tone, host]);

  if (isSuperseded) {
    return (
      <Notice
        state="superseded"
        icon="windows"
        title={text("superseded.title")}
        action={<Button onClick={onReopen}>{text("action.continueHere")}</Button>}
      >
        <p className="secondary">{text("superseded.text")}</p>
      </Notice>
    );
  }
  return (
    <Notice
      isLive
      state={`status-${reward.kind}`}
      icon={icon}
      tone={tone}
      title={
        reward.kind === "delivered" ? (
          <Message id="delivered.title" values={{ bot: session.bot.name }} />
        ) : (
          text(`${reward.kind}.title`)
        )
      }
      action={
        reward.kind === "not-counted" ? (
          <Button onClick={onReopen}>{text("action.continue")}</Button>
        ) : (
          <Button onClick={host.close}>{text("action.close")}</Button>
        )
      }
    >
      {isOffline ? (
        <p className="secondary">{text("player.offline")}</p>
      ) : (
        <Details reward={reward} session={session} />
      )}
    </Notice>
  );
}

function Details({ reward, session }: { reward: Reward; session: Session }): ReactNode {
  const { text, gain } = useTranslator();
  const bot = session.bot.name;
  switch (reward.kind) {
    case "credited":
      return (
        <>
          <p className="amount">
            <bdi>{gain(reward.amount)}</bdi>
          </p>
          <p className="secondary">
            <Message id="credited.text" values={{ balance: reward.balance }} />
          </p>
        </>
      );
    case "refused":
      return (
        <>
          <p className="secondary">{text(`refused.${reward.reason}`)}</p>
          <Quote id={reward.id ?? session.code} />
        </>
      );
    case "undelivered":
      return (
        <>
          <p className="secondary">
            <Message id="undelivered.text" values={{ bot }} />
          </p>
          <Quote id={reward.id ?? session.code} />
        </>
      );
    case "delayed":
      return (
        <>
          <p className="secondary">{text("delayed.text")}</p>
          <Quote id={reward.id ?? session.code} />
        </>
      );
    case "on-its-way":
      return (
        <p className="secondary">
          <Message id="on-its-way.text" values={{ bot }} />
        </p>
      );
    default:
      return <p className="secondary">{text(`${reward.kind}.text`)}</p>;
  }
}

function Quote({ id }: { id: string }) {
  return (
    <p className="quote">
      <Message id="supportCode" values={{ id }} />
    </p>
  );
}
