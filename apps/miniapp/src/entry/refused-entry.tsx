import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import { useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import type { IconName } from "../ui/icon.tsx";
import { LinkOutside } from "../ui/link-outside.tsx";
import { Notice } from "../ui/notice.tsx";
import { SupportCode } from "../ui/texts.tsx";

const refusals = {
  INIT_DATA_INVALID: { state: "init-data-invalid", icon: "person" },
  INIT_DATA_EXPIRED: { state: "init-data-expired", icon: "clock" },
  CODE_MALFORMED: { state: "code-malformed", icon: "link" },
  CODE_UNKNOWN: { state: "code-unknown", icon: "link" },
  CODE_EXPIRED: { state: "code-expired", icon: "clock" },
  CODE_USED: { state: "code-used", icon: "check" },
  CODE_OF_ANOTHER_USER: { state: "code-of-another-user", icon: "person" },
  BOT_UNKNOWN: { state: "bot-unknown", icon: "note" },
  BOT_SUSPENDED: { state: "bot-suspended", icon: "pause" },
} as const satisfies Record<OpenSessionRefusal, { state: string; icon: IconName }>;

interface RefusedEntryProps {
  code: string;
  /** Request id of the refusal; it is also in the service's log. */
  requestId: string | null;
  /** Link to the bot's chat, if the service returned it. */
  botLink?: string | undefined;
  host: Host;
}

/** This many characters of the request id suffice to find it in a log. */
const SUPPORT_CODE_LENGTH = 8;

/** The ad service refused to open an ad: explains why and what to do next. Unknown codes get a general text. */
export function RefusedEntry({ code, requestId, botLink, host }: RefusedEntryProps) {
  const { text } = useTranslator();
  const refusal = isKnown(code) ? refusals[code] : ({ state: "not-understood", icon: "note" } as const);
  return (
    <Notice
      {...refusal}
      title={text(`${refusal.state}.title`)}
      action={
        botLink ? (
          <LinkOutside look="primary" url={botLink} label={text("action.openBot")} host={host} onOpened={host.close} />
        ) : (
          <Button onClick={host.close}>{text("action.close")}</Button>
        )
      }
    >
      <p className="secondary">{text(`${refusal.state}.text`)}</p>
      {requestId ? <SupportCode id={requestId.slice(0, SUPPORT_CODE_LENGTH)} /> : null}
    </Notice>
  );
}

function isKnown(code: string): code is OpenSessionRefusal {
  return Object.hasOwn(refusals, code);
}
