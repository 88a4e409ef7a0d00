import { useEffect } from "react";
import { formatDuration, formatMoment } from "../locales/format-time.ts";
import { Message, useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import { useNow } from "../ui/hooks.ts";
import { Notice } from "../ui/notice.tsx";
import type { WaitReason } from "../watch-ad/describe-opening.ts";

interface WaitEntryProps {
  reason: WaitReason;
  untilMs: number;
  host: Host;
  onReopen: () => void;
}

/** No ad is available yet: counts down the remaining time by the service's clock, then reopens automatically. */
export function WaitEntry({ reason, untilMs, host, onReopen }: WaitEntryProps) {
  const { text, language } = useTranslator();
  const leftMs = untilMs - useNow(500);
  const isOver = leftMs <= 0;
  useEffect(() => {
    if (isOver) onReopen();
  }, [isOver, onReopen]);
  return (
    <Notice
      state={reason === "no-ad" ? "no-ad" : "limit-reached"}
      icon="clock"
      title={text(`${reason}.title`)}
      action={<Button onClick={host.close}>{text("action.close")}</Button>}
    >
      <p className="secondary" role="timer">
        {reason === "daily-cap" ? (
          <Message id="daily-cap.text" values={{ moment: formatMoment(new Date(untilMs), new Date(), language) }} />
        ) : (
          <Message id={`${reason}.text`} values={{ time: formatDuration(leftMs, language) }} />
        )}
      </p>
    </Notice>
  );
}

export function OpeningEntry() {
  const { text } = useTranslator();
  return <Notice isLive state="opening" icon="spinner" title={text("opening")} />;
}
