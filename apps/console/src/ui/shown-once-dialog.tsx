import type { ReactNode } from "react";
import { useWords } from "../words/word-table.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";
import { uiWords } from "./words.ts";

interface ShownOnceDialogProps {
  title: string;
  /** What is to be known before it is copied. */
  about: string;
  value: string;
  onClose: () => void;
  children?: ReactNode;
}

/** A secret, such as a token or a link, which is shown here only, and can be copied. */
export function ShownOnceDialog({ title, about, value, onClose, children }: ShownOnceDialogProps) {
  const { close } = useWords(uiWords);
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{about}</p>
      <code>{value}</code>
      {children}
      <div className="dialog-foot">
        <Button onClick={onClose}>{close}</Button>
        <CopyButton value={value} />
      </div>
    </Dialog>
  );
}
