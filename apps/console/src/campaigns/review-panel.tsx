import { campaignReviewRoutes } from "@intermission/operator-api/campaign-reviews";
import type { Campaign } from "@intermission/operator-api/campaigns";
import { lazy, Suspense } from "react";
import { useMay, usePerson } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage, useWords } from "../words/word-table.ts";
import { campaignFormWords } from "./form-words.ts";
import { campaignReviewWords } from "./words.ts";

const Decision = lazy(async () => ({ default: (await import("./decision.tsx")).Decision }));

/** The review state of a drafted campaign, with the person's actions: submit, approve or refuse. */
export function ReviewPanel({ campaign }: { campaign: Campaign }) {
  const words = useWords(campaignReviewWords);
  const may = useMay();
  const { advertiserId } = usePerson();
  const { review, reviewReason, updatedAt } = campaign;
  const isOperator = advertiserId === null;
  const text = review && textOf[review];
  const isDecided = isOperator && may("approveCampaign") && (review === "waiting" || review === "refused");
  if (isOperator && !isDecided && reviewReason === null) return null;
  return (
    <section className="panel stack narrow" aria-label={words.decision}>
      {reviewReason !== null && <p className="fault">{words.refusedBecause(reviewReason)}</p>}
      {!isOperator && text && <p>{words[text]}</p>}
      {!isOperator && (review === "draft" || review === "refused") && <Submission campaign={campaign} />}
      {isDecided && (
        <Suspense>
          <Decision key={updatedAt.getTime()} campaign={campaign} />
        </Suspense>
      )}
    </section>
  );
}

const textOf = {
  draft: "draftText",
  waiting: "waitingText",
  approved: "approvedText",
  refused: undefined,
} as const satisfies Record<NonNullable<Campaign["review"]>, string | undefined>;

function Submission({ campaign: { campaignId, name, creatives } }: { campaign: Campaign }) {
  const words = useWords(campaignReviewWords);
  const may = useMay();
  const notice = useNotice();
  const submit = useConfirmedChange(campaignReviewRoutes.submitCampaign);
  const language = useLanguage();
  const labels: Readonly<Record<string, string>> = campaignFormWords[language].labels;
  if (!may("submitCampaign")) return null;
  const onClick = () => void submit.run({ params: { campaignId } }, () => notice({ text: words.submitted(name) }));
  return (
    <>
      {creatives.some(({ isActive, isApproved }) => isActive && !isApproved) && (
        <p className="hint">{words.videosGoAlong}</p>
      )}
      {Object.entries(submit.faults).map(([field, fault]) => (
        <p key={field} className="fault" role="alert">
          {Object.hasOwn(labels, field) && `${labels[field]}: `}
          {fault.in(language)}
        </p>
      ))}
      <div className="row">
        <Button look="primary" isBusy={submit.isPending} onClick={onClick}>
          {words.submit}
        </Button>
      </div>
    </>
  );
}
