import { campaignReviewRoutes } from "@intermission/operator-api/campaign-reviews";
import type { Campaign } from "@intermission/operator-api/campaigns";
import type { z } from "zod";
import { typedValuesOf } from "../forms/form-definition.ts";
import { RequestDialog } from "../forms/request-dialog.tsx";
import type { ConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { queueWords } from "../words/queue-words.ts";
import { useWords } from "../words/word-table.ts";
import { campaignRefusalForm } from "./campaign-form-definition.ts";

type Body = z.input<typeof campaignReviewRoutes.refuseCampaign.body>;

interface RefuseDialogProps {
  campaign: Campaign;
  request: ConfirmedChange<typeof campaignReviewRoutes.refuseCampaign>;
  onRefuse: (body: Body) => unknown;
  onClose: () => void;
}

/** The reason of a refusal, which the advertiser reads. */
export function RefuseDialog({ campaign: { name, updatedAt }, request, onRefuse, onClose }: RefuseDialogProps) {
  const { refuse, refuseIt, reason, reasonHint } = useWords(queueWords);
  return (
    <RequestDialog
      title={refuseIt(name)}
      submitText={refuse}
      definition={campaignRefusalForm}
      initial={typedValuesOf(campaignRefusalForm, {})}
      schema={campaignReviewRoutes.refuseCampaign.body}
      fixed={{ expectedUpdatedAt: updatedAt.toISOString() }}
      wordsOf={() => ({ labels: { reason }, hints: { reason: reasonHint } })}
      request={request}
      onBody={onRefuse}
      onClose={onClose}
    />
  );
}
