import { useTranslator } from "../locales/use-translator.tsx";
import { Notice } from "../ui/notice.tsx";

/** Without signed launch data the user is unknown and cannot be rewarded. */
export function OutsideTelegram() {
  const { text } = useTranslator();
  return (
    <Notice state="outside-telegram" icon="telegram" title={text("outside-telegram.title")}>
      <p className="secondary">{text("outside-telegram.text")}</p>
    </Notice>
  );
}
