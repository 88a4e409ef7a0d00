import type { Creative } from "@intermission/operator-api/creatives";
import { mediaAddress } from "../operator/media-address.ts";
import { Icon } from "../ui/icon.tsx";
import { useWords } from "../words/word-table.ts";
import { creativeWords } from "./words.ts";

/** The picture of a creative in a list; its name stands beside it. */
export function Poster({ creative: { posterFileName } }: { creative: Pick<Creative, "posterFileName"> }) {
  return (
    <span className="poster">
      {posterFileName === null ? (
        <Icon name="creative" />
      ) : (
        <img src={mediaAddress(posterFileName)} alt="" loading="lazy" />
      )}
    </span>
  );
}

const looks = {
  draft: "",
  waiting: "pill-late",
  approved: "pill-good",
  refused: "pill-bad",
} satisfies Record<Creative["review"], string>;

/** How far the review of a creative is. */
export function ReviewPill({ review }: Pick<Creative, "review">) {
  return <span className={`pill ${looks[review]}`}>{useWords(creativeWords).reviews[review]}</span>;
}
