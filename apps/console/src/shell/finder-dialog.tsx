import { type ComponentType, Suspense, useState } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { useWords } from "../words/word-table.ts";
import { shellWords } from "./words.ts";

/** What is in the window of the finder: the field with this text, and what is found. */
export type FinderComponent = ComponentType<{ text: string; onText: (text: string) => void; onClose: () => void }>;

/** The finder's window opens with a field at once. Its contents are loaded later, and take over what was typed meanwhile. */
export function FinderDialog({ finder: Finder, onClose }: { finder: FinderComponent; onClose: () => void }) {
  const { find } = useWords(shellWords);
  const [text, setText] = useState("");
  const field = <input aria-label={find} value={text} onChange={(event) => setText(event.target.value)} />;
  return (
    <Dialog title={find} onClose={onClose} place="top">
      <Suspense fallback={field}>
        <Finder text={text} onText={setText} onClose={onClose} />
      </Suspense>
    </Dialog>
  );
}
