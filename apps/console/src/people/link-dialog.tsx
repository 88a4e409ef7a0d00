import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { peopleWords } from "./words.ts";

interface LinkDialogProps {
  email: string;
  link: string;
  onClose: () => void;
}

/** The link of an invitation, which is shown here only. */
export function LinkDialog({ email, link, onClose }: LinkDialogProps) {
  const words = useWords(peopleWords);
  const { copy, copied, close } = useWords(uiWords);
  const notice = useNotice();
  const onCopy = async () => {
    await navigator.clipboard.writeText(link);
    notice({ text: copied });
  };
  return (
    <Dialog title={words.link} onClose={onClose}>
      <p>{words.linkText(email)}</p>
      <code>{link}</code>
      <div className="dialog-foot">
        <Button onClick={onClose}>{close}</Button>
        <Button look="primary" icon="copy" onClick={() => void onCopy()}>
          {copy}
        </Button>
      </div>
    </Dialog>
  );
}
