import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { tokensWords } from "./tokens-words.ts";

interface NewTokenDialogProps {
  token: string;
  /** The bot has no other one. */
  isFirst: boolean;
  onClose: () => void;
}

/** A new token, which is shown here only, and where it belongs. */
export function NewTokenDialog({ token, isFirst, onClose }: NewTokenDialogProps) {
  const words = useWords(tokensWords);
  const { copy, copied, close } = useWords(uiWords);
  const notice = useNotice();
  const onCopy = async () => {
    await navigator.clipboard.writeText(token);
    notice({ text: copied });
  };
  return (
    <Dialog title={words.newToken} onClose={onClose}>
      <p>{words.shownOnce}</p>
      <code>{token}</code>
      <p>{isFirst ? words.putFirst : words.putBeside}</p>
      <p className="secondary">{words.docs}</p>
      <div className="dialog-foot">
        <Button onClick={onClose}>{close}</Button>
        <Button look="primary" icon="copy" onClick={() => void onCopy()}>
          {copy}
        </Button>
      </div>
    </Dialog>
  );
}
