import { type ReactNode, useState } from "react";
import { useFailedNotice } from "./answer-view.tsx";
import { Button } from "./button.tsx";
import { saveCsv } from "./csv.ts";

interface CsvButtonProps {
  /** Reads all rows of the list in its order, not only the shown page; the file's name describes the filter. */
  readCsv: () => Promise<{ file: string; csv: string }>;
  isEmpty: boolean;
  children: ReactNode;
}

export function CsvButton({ readCsv, isEmpty, children }: CsvButtonProps) {
  const failed = useFailedNotice();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const { file, csv } = await readCsv();
      saveCsv(file, csv);
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
