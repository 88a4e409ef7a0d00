import { useWords } from "../words/word-table.ts";
import { Button } from "./button.tsx";
import { useNotice } from "./notices.tsx";
import { uiWords } from "./words.ts";

/** Copies a text, and says whether the browser has allowed it. */
export function CopyButton({ value }: { value: string }) {
  const { copy, copied, notCopied } = useWords(uiWords);
  const notice = useNotice();
  const onCopy = async () => {
    try {
      // Browsers have no clipboard for a page without TLS, and may ask the reader.
      await navigator.clipboard.writeText(value);
      notice({ text: copied });
    } catch {
      notice({ text: notCopied, look: "failed" });
    }
  };
  return (
    <Button look="primary" icon="copy" onClick={() => void onCopy()}>
      {copy}
    </Button>
  );
}
