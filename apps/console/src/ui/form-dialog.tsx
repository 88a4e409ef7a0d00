import type { ReactNode } from "react";
import { useWords } from "../words/word-table.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { uiWords } from "./words.ts";

interface FormDialogProps {
  title: string;
  submitText: string;
  isBusy: boolean;
  onSubmit: () => unknown;
  onClose: () => void;
  children: ReactNode;
}

/** A modal window with fields, and the two buttons under them. */
export function FormDialog({ title, submitText, isBusy, onSubmit, onClose, children }: FormDialogProps) {
  const { cancel } = useWords(uiWords);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          // Enter in a field submits, too.
          if (!isBusy) onSubmit();
        }}
      >
        {children}
        <div className="dialog-foot">
          <Button onClick={onClose}>{cancel}</Button>
          <Button look="primary" type="submit" isBusy={isBusy}>
            {submitText}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
