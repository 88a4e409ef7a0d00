import { useTranslator } from "../locales/use-translator.tsx";
import { Notice } from "../ui/notice.tsx";

/** Nobody signed who is here, so there is nobody to reward. */
export function OutsideTelegram() {
  const { text } = useTranslator();
  return (
    <Notice state="outside-telegram" icon="telegram" title={text("outside-telegram.title")}>
      <p className="secondary">{text("outside-telegram.text")}</p>
    </Notice>
  );
}
