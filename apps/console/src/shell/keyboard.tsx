import { useNavigate } from "@tanstack/react-router";
import { type ComponentType, Suspense, useEffect, useRef, useState } from "react";
import { useMay } from "../session/use-session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { isTyping, LETTER_MS, shortcutKey } from "../ui/use-keys.ts";
import { useWords } from "../words/word-table.ts";
import { useSections } from "./use-sections.ts";
import { shellWords } from "./words.ts";

export type FinderComponent = ComponentType<{ onClose: () => void }>;

interface KeyboardProps {
  finder: FinderComponent;
  loadFinder: () => Promise<unknown>;
  isFinderOpen: boolean;
  onFinder: (isOpen: boolean) => void;
}

/** After the first screen, which needs the connection more. */
const LOAD_FINDER_AFTER_MS = 500;

/** ⌘K or Ctrl+K opens the finder, `g` + letter leads to a section, `/` to the search field of a list, `?` shows this. Keys in fields are the fields' own. */
export function Keyboard({ finder: Finder, loadFinder, isFinderOpen, onFinder }: KeyboardProps) {
  const words = useWords(shellWords);
  const may = useMay();
  const sections = useSections();
  const navigate = useNavigate();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const pressedG = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    // Loaded before it is opened, so that nothing is lost that is typed right after ⌘K. A failure is shown when it is opened.
    const timer = setTimeout(() => loadFinder().catch(() => undefined), LOAD_FINDER_AFTER_MS);
    return () => clearTimeout(timer);
  }, [loadFinder]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const key = shortcutKey(event);
      if ((event.metaKey || event.ctrlKey) && key.toLowerCase() === "k") {
        event.preventDefault();
        onFinder(true);
        return;
      }
      if (isFinderOpen || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isLetter = event.timeStamp - pressedG.current < LETTER_MS;
      pressedG.current = key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (event.key === "?") {
        setHelpOpen(true);
      } else if (event.key === "/") {
        const search = document.querySelector<HTMLInputElement>("input[type=search]");
        if (search === null) return;
        event.preventDefault();
        search.focus();
      } else if (isLetter) {
        const section = sections.find(({ letter }) => letter === key);
        if (section !== undefined) void navigate({ to: section.to });
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [sections, navigate, isFinderOpen, onFinder]);
  if (isFinderOpen) {
    return (
      <Suspense fallback={null}>
        <Finder onClose={() => onFinder(false)} />
      </Suspense>
    );
  }
  if (!isHelpOpen) return null;
  return (
    <Dialog title={words.help} onClose={() => setHelpOpen(false)}>
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
