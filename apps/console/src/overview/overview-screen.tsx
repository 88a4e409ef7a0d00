import { EmptyState } from "../ui/answer-view.tsx";
import { Page } from "../ui/page.tsx";
import { useWords } from "../words/word-table.ts";
import { overviewWords } from "./words.ts";

export function OverviewScreen() {
  const words = useWords(overviewWords);
  return (
    <Page title={words.overview}>
      <EmptyState>{words.nothing}</EmptyState>
    </Page>
  );
}
