import { type ReactNode, useLayoutEffect, useRef } from "react";
import { useWords } from "../words/word-table.ts";
import { Icon } from "./icon.tsx";
import { NoticesOfDialog } from "./notices.tsx";
import { uiWords } from "./words.ts";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Beside the content from the edge of the window, or in its middle. */
  place?: "middle" | "top";
}

/** A modal window: Escape and a press outside close it, and the focus returns to where it was. Mount it to open it. */
export function Dialog({ title, onClose, children, place = "middle" }: DialogProps) {
  const words = useWords(uiWords);
  const dialog = useRef<HTMLDialogElement>(null);
  // Closed while it is still in the page, it returns the focus.
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    // Else the browser gives the focus to the button that closes.
    opened?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    return () => opened?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same, by the element itself.
    <dialog
      ref={dialog}
      className={`dialog dialog-${place}`}
      aria-label={title}
      onCancel={onClose}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      <div className="dialog-card">
        <header className="dialog-head">
          <h2>{title}</h2>
          <button type="button" className="button button-quiet" aria-label={words.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
      <NoticesOfDialog />
    </dialog>
  );
}
