import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { useQueryClient } from "@tanstack/react-query";
import { callOperator } from "../operator/call-operator.ts";
import { useErrorText } from "../ui/answer-view.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useWords } from "../words/word-table.ts";
import { campaignWords } from "./words.ts";

type Changed = Pick<Campaign, "campaignId" | "name" | "status">;
type Verb = "pause" | "resume" | "archive";

const routes = {
  pause: campaignRoutes.pauseCampaign,
  resume: campaignRoutes.resumeCampaign,
  archive: campaignRoutes.archiveCampaign,
} satisfies Record<Verb, unknown>;

/** As long as a notice offers to take it back. */
const UNDO_MS = 8000;

/** Pauses, resumes and archives campaigns, and offers to take it back. */
export function useStatusChanges() {
  const words = useWords(campaignWords);
  const queries = useQueryClient();
  const notice = useNotice();
  const textOf = useErrorText();

  /** Returns the campaigns that were changed; says which request failed. */
  async function change(verb: Verb, campaigns: readonly Changed[]): Promise<Changed[]> {
    const done: Changed[] = [];
    const faults: Error[] = [];
    for (const campaign of campaigns) {
      try {
        await callOperator(routes[verb], { params: { campaignId: campaign.campaignId } });
        done.push(campaign);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        faults.push(error);
      }
    }
    await queries.invalidateQueries();
    const [fault] = faults;
    if (fault !== undefined) notice({ text: `${words.someFailed(faults.length)}: ${textOf(fault)}`, look: "failed" });
    return done;
  }

  return {
    async pause(campaigns: readonly Changed[]): Promise<void> {
      const done = await change("pause", campaigns);
      const [one, ...others] = done;
      if (one === undefined) return;
      const text = others.length === 0 ? words.paused(one.name) : words.pausedAll(done.length);
      notice({ text, onUndo: () => void change("resume", done) });
    },
    async resume(campaign: Changed): Promise<void> {
      const [done] = await change("resume", [campaign]);
      if (done) notice({ text: words.resumed(done.name), onUndo: () => void change("pause", [done]) });
    },
    /**
     * Archiving is for good. So a campaign is paused at once, and archived when the time to take it back is over, or when the
     * page is left.
     */
    async archive(campaign: Changed): Promise<void> {
      const wasActive = campaign.status === "active";
      let timer: ReturnType<typeof setTimeout> | undefined;
      let isFinished = false;
      const forget = () => {
        clearTimeout(timer);
        window.removeEventListener("pagehide", finish);
      };
      const finish = () => {
        forget();
        isFinished = true;
        void change("archive", [campaign]);
      };
      // Before the pause is answered: the page may be left as soon as it shows it.
      window.addEventListener("pagehide", finish);
      if (wasActive && (await change("pause", [campaign])).length === 0) {
        forget();
        return;
      }
      if (isFinished) return;
      timer = setTimeout(finish, UNDO_MS);
      notice({
        text: words.archived(campaign.name),
        onUndo: () => {
          forget();
          if (wasActive) void change("resume", [campaign]);
        },
      });
    },
  };
}
