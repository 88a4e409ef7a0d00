import type { Creative } from "@intermission/operator-api/creatives";
import { useWords } from "../words/word-table.ts";
import { creativeWords } from "./words.ts";

const looks = {
  draft: "",
  waiting: "pill-late",
  approved: "pill-good",
  refused: "pill-bad",
} satisfies Record<Creative["review"], string>;

export function ReviewPill({ review }: Pick<Creative, "review">) {
  return <span className={`pill ${looks[review]}`}>{useWords(creativeWords).reviews[review]}</span>;
}
