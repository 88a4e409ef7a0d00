import { type ReactNode, useState } from "react";
import { useFailedNotice } from "./answer-view.tsx";
import { Button } from "./button.tsx";
import { saveCsv } from "./csv.ts";

interface CsvButtonProps {
  file: string;
  /** Reads all rows of the list, in its order, of which a screen shows a page. */
  readCsv: () => Promise<string>;
  isEmpty: boolean;
  children: ReactNode;
}

/** Saves a list as a file. */
export function CsvButton({ file, readCsv, isEmpty, children }: CsvButtonProps) {
  const failed = useFailedNotice();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      saveCsv(file, await readCsv());
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      failed(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button onClick={() => void save()} isBusy={isBusy} aria-disabled={isEmpty}>
      {children}
    </Button>
  );
}
