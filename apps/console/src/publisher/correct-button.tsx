import { lazy, Suspense, useState } from "react";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/word-table.ts";
import { publisherWords } from "./words.ts";

/** A form is loaded when it is opened. */
const CorrectionDialog = lazy(async () => ({ default: (await import("./correction-dialog.tsx")).CorrectionDialog }));

/** Corrects what a bot's publisher is owed. */
export function CorrectButton({ botId, currency }: { botId: string; currency: string }) {
  const words = useWords(publisherWords);
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  if (!may("correctPublisher")) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{words.correct}</Button>
      <Suspense>
        {isOpen && <CorrectionDialog botId={botId} currency={currency} onClose={() => setOpen(false)} />}
      </Suspense>
    </>
  );
}
