import { useWords } from "../words/word-table.ts";
import { Button } from "./button.tsx";
import { uiWords } from "./words.ts";

interface MoreButtonProps {
  /** Of TanStack Query. */
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

/** Under a list that is read page by page: reads the next page. */
export function MoreButton({ pages: { hasNextPage, isFetchingNextPage, fetchNextPage } }: MoreButtonProps) {
  const { more } = useWords(uiWords);
  if (!hasNextPage) return null;
  return (
    <div className="row list-more">
      <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {more}
      </Button>
    </div>
  );
}
