import type { OpenSessionRefusal } from "@intermission/ad-core/player-api";
import { useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import type { IconName } from "../ui/icon.tsx";
import { LinkOutside } from "../ui/link-outside.tsx";
import { Notice } from "../ui/notice.tsx";
import { SupportCode } from "../ui/texts.tsx";
import { readBotLink } from "./outside-telegram.tsx";

/** `isOfCode`: only the code that the app was opened with is refused, so the user may get an ad without it. */
const refusals: Readonly<Record<OpenSessionRefusal, { icon: IconName; isOfCode?: true }>> = {
  INIT_DATA_INVALID: { icon: "person" },
  INIT_DATA_WITHOUT_USER: { icon: "person" },
  INIT_DATA_EXPIRED: { icon: "clock" },
  CODE_MALFORMED: { icon: "link", isOfCode: true },
  CODE_UNKNOWN: { icon: "link", isOfCode: true },
  CODE_EXPIRED: { icon: "clock", isOfCode: true },
  CODE_USED: { icon: "check", isOfCode: true },
  CODE_OF_ANOTHER_USER: { icon: "person", isOfCode: true },
  BOT_UNKNOWN: { icon: "note" },
  BOT_SUSPENDED: { icon: "pause" },
};

/** `CODE_OF_ANOTHER_USER` has the texts `code-of-another-user.title` and `.text`. */
type KebabCase<Code extends string> = Code extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}-${KebabCase<Rest>}`
  : Lowercase<Code>;

interface RefusedEntryProps {
  code: string;
  /** Request id of the refusal; it is also in the service's log. */
  requestId?: string | null;
  /** Link to the bot's chat, if the service returned it. A refused code gets the page's own. */
  botLink?: string | undefined;
  host: Host;
  /** Requests an ad without the code. */
  onAnother: () => void;
}

/** This many characters of the request id suffice to find it in a log. */
const SUPPORT_CODE_LENGTH = 8;

/**
 * The ad service refused to open an ad: explains why and what to do next. Chats are full of old buttons, so a refused code
 * leads to an ad without it. Unknown refusals get a general text.
 */
export function RefusedEntry({ code, requestId, botLink, host, onAnother }: RefusedEntryProps) {
  const { text } = useTranslator();
  const state = isKnown(code) ? kebabCase(code) : "not-understood";
  const { icon, isOfCode = false } = isKnown(code) ? refusals[code] : { icon: "note" as const };
  const leave = isOfCode ? "secondary" : "primary";
  const link = botLink ?? (isOfCode ? readBotLink().botLink : undefined);
  return (
    <Notice
      state={state}
      icon={icon}
      title={text(`${state}.title`)}
      action={
        <>
          {link ? (
            <LinkOutside
              look={leave}
              url={link}
              telegramLink={link}
              label={text("action.openBot")}
              host={host}
              onOpened={host.close}
            />
          ) : (
            <Button look={leave} onClick={host.close}>
              {text("action.close")}
            </Button>
          )}
          {isOfCode ? <Button onClick={onAnother}>{text("action.watchAd")}</Button> : null}
        </>
      }
    >
      <p className="secondary">{text(`${state}.text`)}</p>
      {requestId ? <SupportCode id={requestId.slice(0, SUPPORT_CODE_LENGTH)} /> : null}
    </Notice>
  );
}

function isKnown(code: string): code is OpenSessionRefusal {
  return Object.keys(refusals).includes(code);
}

function kebabCase<Code extends string>(code: Code): KebabCase<Code> {
  return code.toLowerCase().replace(/_/g, "-") as KebabCase<Code>;
}
