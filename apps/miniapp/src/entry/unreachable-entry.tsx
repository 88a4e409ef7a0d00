import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";

/** The app retries automatically; the button is for users who know that they are online again. */
export function UnreachableEntry({ onRetry }: { onRetry: () => void }) {
  const { text } = useTranslator();
  return (
    <Notice
      state="unreachable"
      icon="offline"
      title={text("unreachable.title")}
      action={<Button onClick={onRetry}>{text("action.tryAgain")}</Button>}
    >
      <p className="secondary">{text("unreachable.text")}</p>
    </Notice>
  );
}
