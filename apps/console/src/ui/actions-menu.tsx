import { type ReactNode, useId, useRef } from "react";
import { useWords } from "../words/word-table.ts";
import { Icon } from "./icon.tsx";
import { uiWords } from "./words.ts";

interface ActionsMenuProps {
  /** For screen readers: whose actions they are. */
  label: string;
  /** Buttons and links. What they open stands outside, since the menu closes. */
  children: ReactNode;
}

/** What can be done with one row, under one button. Choosing something, Escape and a press outside close it; the focus returns. */
export function ActionsMenu({ label, children }: ActionsMenuProps) {
  const words = useWords(uiWords);
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  return (
    <>
      <button type="button" className="button button-plain" popoverTarget={id} aria-label={label}>
        {words.actions}
        <Icon name="down" />
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys press the buttons inside, which is a click, too. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above. */}
      <div
        id={id}
        ref={menu}
        popover="auto"
        className="actions-menu"
        onClick={({ target }) => {
          if (target instanceof Element && target.closest("button, a")) menu.current?.hidePopover();
        }}
      >
        {children}
      </div>
    </>
  );
}
