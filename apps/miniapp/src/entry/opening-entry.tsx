import { useTranslator } from "../locales/use-translator.tsx";
import { Notice } from "../ui/notice.tsx";

export function OpeningEntry() {
  const { text } = useTranslator();
  return <Notice isLive state="opening" icon="spinner" title={text("opening")} />;
}
