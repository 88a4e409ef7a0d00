import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useMay } from "../session/use-session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { shortcutKey, useShortcuts } from "../ui/use-shortcuts.ts";
import { useWords } from "../words/word-table.ts";
import { type FinderComponent, FinderDialog } from "./finder-dialog.tsx";
import { useSections } from "./use-sections.ts";
import { shellWords } from "./words.ts";

interface KeyboardProps {
  finder: FinderComponent;
  loadFinder: () => Promise<unknown>;
  isFinderOpen: boolean;
  onFinder: (isOpen: boolean) => void;
}

/** After the first screen, which needs the connection more. */
const LOAD_FINDER_AFTER_MS = 500;

/** ⌘K or Ctrl+K opens the finder, `g` + letter leads to a section, `/` to the search field of a list or the finder, `?` shows this. */
export function Keyboard({ finder, loadFinder, isFinderOpen, onFinder }: KeyboardProps) {
  const sections = useSections();
  const navigate = useNavigate();
  const [isHelpOpen, setHelpOpen] = useState(false);
  useEffect(() => {
    // Loaded before it is opened. A failure is shown when it is opened.
    const timer = setTimeout(() => loadFinder().catch(() => undefined), LOAD_FINDER_AFTER_MS);
    return () => clearTimeout(timer);
  }, [loadFinder]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || shortcutKey(event).toLowerCase() !== "k") return;
      event.preventDefault();
      onFinder(true);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [onFinder]);
  const search = () => {
    const fields = [...document.querySelectorAll<HTMLInputElement>("input[data-of-list]")];
    const field = fields.find((one) => one.checkVisibility());
    // What is typed after it is meant for a field, also on a screen that has none.
    if (field === undefined) onFinder(true);
    else field.focus();
  };
  useShortcuts({
    keys: { "?": () => setHelpOpen(true), "/": search },
    afterG: Object.fromEntries(sections.map(({ letter, to }) => [letter, () => void navigate({ to })])),
  });
  if (isFinderOpen) return <FinderDialog finder={finder} onClose={() => onFinder(false)} />;
  return isHelpOpen ? <Help onClose={() => setHelpOpen(false)} /> : null;
}

function Help({ onClose }: { onClose: () => void }) {
  const words = useWords(shellWords);
  const may = useMay();
  const sections = useSections();
  return (
    <Dialog title={words.help} onClose={onClose}>
      <dl className="keys">
        <Key keys={["⌘K", "Ctrl K"]} does={words.findAnything} />
        <Key keys={["/"]} does={words.searchList} />
        <Key keys={["?"]} does={words.showHelp} />
        {sections.map(({ letter, word }) => (
          <Key key={letter} keys={["g", letter]} does={words.goTo(words[word])} />
        ))}
        {may("approveCreative") && <Key keys={["a", "r"]} does={words.decideCreative} />}
      </dl>
    </Dialog>
  );
}

function Key({ keys, does }: { keys: readonly string[]; does: string }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </div>
  );
}
