import { Link } from "@tanstack/react-router";
import { EmptyState } from "../ui/answer-view.tsx";
import { Page } from "../ui/page.tsx";
import { useWords } from "../words/word-table.ts";
import { shellWords } from "./words.ts";

export function NoPage() {
  const words = useWords(shellWords);
  return (
    <Page title={words.noPage}>
      <EmptyState
        action={
          <Link to="/" className="button button-plain">
            {words.toOverview}
          </Link>
        }
      >
        {words.noPageText}
      </EmptyState>
    </Page>
  );
}
