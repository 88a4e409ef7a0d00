import { type Creative, creativeRoutes } from "@intermission/operator-api/creatives";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { creativeWords } from "./words.ts";

/** Approves and refuses what the reader sees, which the revision names, and offers to take it back. */
export function useDecisions({ onDecided, onFailed }: { onDecided: () => void; onFailed: () => void }) {
  const words = useWords(creativeWords);
  const notice = useNotice();
  const approval = useConfirmedChange(creativeRoutes.approveCreative);
  const refusal = useConfirmedChange(creativeRoutes.refuseCreative);
  const reopening = useConfirmedChange(creativeRoutes.reopenReview);
  const decided = ({ creativeId, revision }: Creative, text: string) => {
    notice({ text, onUndo: () => void reopening.run({ params: { creativeId }, body: { revision } }) });
    onDecided();
  };
  return {
    async approve({ creativeId, revision }: Creative): Promise<void> {
      const creative = await approval.run({ params: { creativeId }, body: { revision } });
      if (creative === undefined) onFailed();
      else decided(creative, words.approved(creative.name ?? creativeId));
    },
    async refuse({ creativeId, revision }: Creative, reason: string): Promise<void> {
      const creative = await refusal.run({ params: { creativeId }, body: { revision, reason } });
      if (creative === undefined) onFailed();
      else decided(creative, words.refused(creative.name ?? creativeId));
    },
    isPending: approval.isPending || refusal.isPending,
    /** Of the form of a refusal. */
    refusal,
  };
}
