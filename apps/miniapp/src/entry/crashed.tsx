import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import { SupportCode } from "../ui/texts.tsx";

/** An error in the app itself. The ad service has stored the watched ranges, but perhaps not the last of them. */
export function Crashed({ place, onRetry }: { place: string; onRetry: () => void }) {
  const { text } = useTranslator();
  return (
    <Notice
      state="crashed"
      icon="note"
      tone="bad"
      title={text("not-understood.title")}
      action={<Button onClick={onRetry}>{text("action.tryAgain")}</Button>}
    >
      <p className="secondary">{text("crashed.text")}</p>
      <SupportCode id={place} />
    </Notice>
  );
}
