import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";

/** Another window of this user has taken over the session. */
export function Superseded({ onReopen }: { onReopen: () => void }) {
  const { text } = useTranslator();
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
