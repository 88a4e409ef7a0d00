import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import { useQueryClient } from "@tanstack/react-query";
import { callOperator } from "../operator/call-operator.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import { useErrorText } from "../ui/answer-view.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useWords } from "../words/word-table.ts";
import { type Changed, type ChangeOptions, changeEach, undoOf, type Verb } from "./change-each.ts";
import { campaignWords } from "./words.ts";

const routes = {
  pause: campaignRoutes.pauseCampaign,
  resume: campaignRoutes.resumeCampaign,
  archive: campaignRoutes.archiveCampaign,
} satisfies Record<Verb, unknown>;

const requestOf =
  (verb: Verb) =>
  ({ campaignId }: Changed) =>
    callOperator(routes[verb], { params: { campaignId } });

/** As long as a notice offers to take it back. */
const UNDO_MS = 8000;

/** What the operator has paused, its advertiser cannot resume. */
export function useMayResume(): (campaign: Pick<Campaign, "status" | "pausedBy" | "review">) => boolean {
  const { advertiserId } = usePerson();
  const may = useMay();
  return ({ status, pausedBy, review }) =>
    status === "paused" &&
    (review === null || review === "approved") &&
    may("resumeCampaign") &&
    (advertiserId === null || pausedBy === "advertiser");
}

/** An advertiser archives only the campaigns that it drafted. */
export function useMayArchive(): (campaign: Pick<Campaign, "status" | "review">) => boolean {
  const { advertiserId } = usePerson();
  const may = useMay();
  return ({ status, review }) =>
    status !== "archived" && may("archiveCampaign") && (advertiserId === null || review !== null);
}

/** Pauses, resumes and archives campaigns, and offers to take it back. */
export function useStatusChanges() {
  const words = useWords(campaignWords);
  const queries = useQueryClient();
  const notice = useNotice();
  const textOf = useErrorText();
  const isOperator = usePerson().advertiserId === null;

  /** Returns the campaigns that were changed, and how many were left when it was stopped; says which request failed. */
  async function changeSome(verb: Verb, campaigns: readonly Changed[], options?: ChangeOptions) {
    const { done, faults, left } = await changeEach(campaigns, requestOf(verb), options);
    await queries.invalidateQueries();
    const [fault] = faults;
    if (fault !== undefined) notice({ text: `${words.someFailed(faults.length)}: ${textOf(fault)}`, look: "failed" });
    return { done, left };
  }

  const change = async (verb: Verb, campaigns: readonly Changed[]) => (await changeSome(verb, campaigns)).done;

  /** What `notice` takes, where the change can be taken back. */
  function undoing(verb: Verb, done: readonly Changed[]) {
    const undo = undoOf(verb, done, { isOperator });
    return undo && { onUndo: () => void change(undo.verb, undo.campaigns) };
  }

  return {
    /** After a confirmation; what can be taken back, the notice offers to. */
    async changeAll(verb: Verb, campaigns: readonly Changed[], options: ChangeOptions): Promise<void> {
      const { done, left } = await changeSome(verb, campaigns, options);
      if (done.length === 0 && left === 0) return;
      const said = done.length > 0 ? words[`${verb}dAll`](done.length) : "";
      const text = left > 0 ? `${said} ${words.stoppedBefore(left)}`.trim() : said;
      notice({ text, ...undoing(verb, done) });
    },
    async pause(campaigns: readonly Changed[]): Promise<void> {
      const done = await change("pause", campaigns);
      const [one, ...others] = done;
      if (one === undefined) return;
      const text = others.length === 0 ? words.paused(one.name) : words.pausedAll(done.length);
      notice({ text, ...undoing("pause", done) });
    },
    async resume(campaign: Changed): Promise<void> {
      const [done] = await change("resume", [campaign]);
      if (done) notice({ text: words.resumed(done.name), ...undoing("resume", [done]) });
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
