import { campaignReviewRoutes } from "@intermission/operator-api/campaign-reviews";
import type { Campaign } from "@intermission/operator-api/campaigns";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { typedValuesOf } from "../forms/form-definition.ts";
import { useSubmit, useTypedForm } from "../forms/typed-form.ts";
import { Skeleton } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useShortcuts } from "../ui/use-shortcuts.ts";
import { queueWords } from "../words/queue-words.ts";
import { useWords } from "../words/word-table.ts";
import { approvalForm, isCampaignField } from "./campaign-form-definition.ts";
import { campaignReviewWords } from "./words.ts";

/** Loaded separately: with these fields the screen would exceed its size limit. */
const ApprovalFields = lazy(async () => ({ default: (await import("./approval-fields.tsx")).ApprovalFields }));
/** A form is loaded when it is opened. */
const RefuseDialog = lazy(async () => ({ default: (await import("./refuse-dialog.tsx")).RefuseDialog }));

interface DecisionProps {
  campaign: Campaign;
  onDecided?: () => void;
  /** Called after a refused decision: the campaign may have changed. */
  onFailed?: () => void;
  /** Whether single keys approve and refuse, on a page that only serves decisions. */
  hasKeys?: boolean;
  /** Shown beside the buttons. */
  children?: ReactNode;
}

/** Approves the campaign that the reader sees, at the price in the form, or refuses it with a reason. */
export function Decision({ campaign, onDecided, onFailed, hasKeys = false, children }: DecisionProps) {
  const words = useWords(campaignReviewWords);
  const { approve, refuse, keys } = useWords(queueWords);
  const notice = useNotice();
  const approval = useConfirmedChange(campaignReviewRoutes.approveCampaign);
  const refusal = useConfirmedChange(campaignReviewRoutes.refuseCampaign);
  const [isRefused, setRefused] = useState(false);
  const { campaignId, name, formats, updatedAt: expectedUpdatedAt } = campaign;
  const form = useTypedForm(approvalForm, {
    initial: typedValuesOf(approvalForm, campaign),
    serverFaults: approval.faults,
    isShown: (field) => isCampaignField(field, { formats }, { isNew: false, isNewAdvertiser: false }),
  });
  const decided = (text: string) => {
    notice({ text });
    onDecided?.();
  };
  const submit = useSubmit(form, {
    schema: campaignReviewRoutes.approveCampaign.body,
    fixed: { expectedUpdatedAt: expectedUpdatedAt.toISOString() },
    onBody: async (body) => {
      const approved = await approval.run({ params: { campaignId }, body });
      if (approved !== undefined) decided(words.approved(name));
      else onFailed?.();
    },
  });
  const isPending = approval.isPending || refusal.isPending;
  const startRefusal = () => setRefused(true);
  useShortcuts({ keys: hasKeys && !isPending ? { a: () => void submit(), r: startRefusal } : {} });
  return (
    <>
      <form className="stack" onSubmit={(event) => void submit(event)} noValidate>
        <Suspense fallback={<Skeleton rows={2} />}>
          <ApprovalFields form={form} />
        </Suspense>
        <div className="row">
          <Button look="primary" type="submit" isBusy={isPending}>
            {approve}
          </Button>
          {campaign.review !== "refused" && (
            <Button look="danger" isBusy={isPending} onClick={startRefusal}>
              {refuse}
            </Button>
          )}
          {children}
        </div>
        {hasKeys && <p className="hint">{keys}</p>}
      </form>
      <Suspense>
        {isRefused && (
          <RefuseDialog
            campaign={campaign}
            request={refusal}
            onRefuse={async (body) => {
              const refused = await refusal.run({ params: { campaignId }, body });
              setRefused(false);
              if (refused !== undefined) decided(words.refused(name));
              else onFailed?.();
            }}
            onClose={() => setRefused(false)}
          />
        )}
      </Suspense>
    </>
  );
}
