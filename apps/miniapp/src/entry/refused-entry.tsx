import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import { useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import type { IconName } from "../ui/icon.tsx";
import { LinkOutside } from "../ui/link-outside.tsx";
import { Notice } from "../ui/notice.tsx";
import { SupportCode } from "../ui/texts.tsx";

const icons: Readonly<Record<OpenSessionRefusal, IconName>> = {
  INIT_DATA_INVALID: "person",
  INIT_DATA_WITHOUT_USER: "person",
  INIT_DATA_EXPIRED: "clock",
  CODE_MALFORMED: "link",
  CODE_UNKNOWN: "link",
  CODE_EXPIRED: "clock",
  CODE_USED: "check",
  CODE_OF_ANOTHER_USER: "person",
  BOT_UNKNOWN: "note",
  BOT_SUSPENDED: "pause",
};

/** `CODE_OF_ANOTHER_USER` has the texts `code-of-another-user.title` and `.text`. */
type KebabCase<Code extends string> = Code extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}-${KebabCase<Rest>}`
  : Lowercase<Code>;

interface RefusedEntryProps {
  code: string;
  /** Request id of the refusal; it is also in the service's log. */
  requestId?: string | null;
  /** Link to the bot's chat, if the service returned it. */
  botLink?: string | undefined;
  host: Host;
}

/** This many characters of the request id suffice to find it in a log. */
const SUPPORT_CODE_LENGTH = 8;

/** The ad service refused to open an ad: explains why and what to do next. Unknown codes get a general text. */
export function RefusedEntry({ code, requestId, botLink, host }: RefusedEntryProps) {
  const { text } = useTranslator();
  const [state, icon] = isKnown(code) ? [kebabCase(code), icons[code]] : (["not-understood", "note"] as const);
  return (
    <Notice
      state={state}
      icon={icon}
      title={text(`${state}.title`)}
      action={
        botLink ? (
          <LinkOutside look="primary" url={botLink} label={text("action.openBot")} host={host} onOpened={host.close} />
        ) : (
          <Button onClick={host.close}>{text("action.close")}</Button>
        )
      }
    >
      <p className="secondary">{text(`${state}.text`)}</p>
      {requestId ? <SupportCode id={requestId.slice(0, SUPPORT_CODE_LENGTH)} /> : null}
    </Notice>
  );
}

function isKnown(code: string): code is OpenSessionRefusal {
  return Object.keys(icons).includes(code);
}

function kebabCase<Code extends string>(code: Code): KebabCase<Code> {
  return code.toLowerCase().replace(/_/g, "-") as KebabCase<Code>;
}
