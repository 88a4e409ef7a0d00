import type { ViewerBlock } from "@intermission/operator-api/explain";
import type { CodeVerdict } from "@intermission/operator-api/timeline";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { explainWords } from "../explain/words.ts";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { timelineWords, verdictWords } from "./words.ts";

interface Viewer {
  botId: string;
  userId: string;
}

/** What became of a code, in a sentence, with the way to what can be done about it. */
export function Verdict({ of, verdict }: { of: Viewer; verdict: CodeVerdict }) {
  const text = verdictWords[useLanguage()][verdict];
  return (
    <p className="verdict" role="status">
      {text} <NextStep of={of} step={steps[verdict]} />
    </p>
  );
}

/** What became of a user's latest code, and what keeps the user from an ad now. */
export function UserVerdict({
  of,
  latest,
  blocked,
}: {
  of: Viewer;
  latest: { verdict: CodeVerdict } | undefined;
  blocked: ViewerBlock | null;
}) {
  const words = useWords(timelineWords);
  const explain = useWords(explainWords);
  const { dateTime } = useFormats();
  return (
    <>
      {latest !== undefined && <Verdict of={of} verdict={latest.verdict} />}
      {blocked !== null && (
        <p className="late">
          {words.now} {explain.blocked[blocked.reason]}
          {blocked.availableAt !== null && ` ${explain.from(dateTime(blocked.availableAt))}`}
        </p>
      )}
    </>
  );
}

type Step = "explain" | "review" | "webhooks";

const steps = {
  paid: undefined,
  earned: undefined,
  "webhook-waiting": "webhooks",
  "webhook-failed": "webhooks",
  refunded: undefined,
  held: "review",
  refused: undefined,
  "click-not-counted": "explain",
  "not-closed": undefined,
  "left-early": undefined,
  "not-started": "explain",
  "no-ad": "explain",
  limited: "explain",
  "request-refused": undefined,
  unused: "explain",
} satisfies Record<CodeVerdict, Step | undefined>;

function NextStep({ of: { botId, userId }, step }: { of: Viewer; step: Step | undefined }): ReactNode {
  const words = useWords(timelineWords);
  switch (step) {
    case undefined:
      return null;
    case "explain":
      return (
        <Link to="/explain" search={{ bot: botId, user: userId }} className="link">
          {words.whyNoAd}
        </Link>
      );
    case "review":
      return (
        <Link to="/reviews" search={{ bot: botId, user: userId }} className="link">
          {words.toReview}
        </Link>
      );
    case "webhooks":
      return (
        <Link to="/bots/$botId" params={{ botId }} className="link">
          {words.toBot}
        </Link>
      );
    default:
      return step satisfies never;
  }
}
