import { statement, type Transaction } from "@intermission/postgres/open-database";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { outOfTime } from "../ad-selection/eligibility.ts";
import type { TaskBotCalls } from "./bot-api.ts";
import { callInChat } from "./call-in-chat.ts";
import { applyFact, lockTask, type StoredTask } from "./change-task.ts";
import { readRoom } from "./task-budget.ts";
import { readLink } from "./telegram-answers.ts";

export type OpenTaskOutcome =
  | { outcome: "opened"; inviteLink: string }
  | { outcome: "unknown-task" }
  /** It has ended, or is done. */
  | { outcome: "over" }
  /** The campaign does not run any more, nothing is left of its budget, or the bot is suspended. */
  | { outcome: "no-ad" }
  /** Telegram made no link now. */
  | { outcome: "unavailable" };

export interface OpenDeps extends TaskBotCalls {
  campaigns: CampaignSnapshot;
}

/** While a node makes a link, others wait so long; a link that was made and not stored is known to nobody, and expires. */
const CLAIM_SECONDS = 20;
/** Telegram's limits are not documented: no channel gets more links at once. */
const MAX_LINKS = 1000;
/** Of a code, in an invite link's name. */
const NAME_LENGTH = 32;

const readLinkOf = statement<{ inviteLink: string | null; isClaimed: boolean; isSuspended: boolean }>(
  "tasks.read-link",
  `select invite_link as "inviteLink", coalesce(link_claimed_until > now(), false) as "isClaimed",
     (select is_suspended from bots where bots.bot_id = tasks.bot_id) as "isSuspended"
   from tasks where code = $1`,
);
const claimLink = statement<never>(
  "tasks.claim-link",
  `update tasks set link_claimed_until = now() + interval '${CLAIM_SECONDS} seconds' where code = $1`,
);
const storeLink = statement<{ inviteLink: string }>(
  "tasks.store-link",
  `update tasks set invite_link = $2, link_claimed_until = null where code = $1 and state = 'opened' and case when invite_link is null then true end
   returning invite_link as "inviteLink"`,
);
const unclaimLink = statement<never>(
  "tasks.unclaim-link",
  "update tasks set link_claimed_until = null where code = $1",
);
const readChannel = statement<{ taskBotId: string; approvesRequests: boolean }>(
  "tasks.read-channel-of-link",
  `select task_bot_id as "taskBotId", approves_requests as "approvesRequests" from task_channels where chat_id = $1`,
);

/**
 * Opens a task: its place in the campaign's budget is held until its end, and its invite link, which is for one user, is made at
 * the first opening. Opening it again answers the same link.
 */
export async function openTask(deps: OpenDeps, { code, now }: { code: string; now: Date }): Promise<OpenTaskOutcome> {
  const { database } = deps;
  const opened = await database.transaction((tx) => openOnce(deps, tx, { code, now }));
  if (opened.outcome !== "make-link") return opened;
  const { task } = opened;
  const inviteLink = await makeLink(deps, task);
  if (inviteLink === undefined) {
    await database.run(unclaimLink, [code]);
    return { outcome: "unavailable" };
  }
  const [stored] = await database.run(storeLink, [code, inviteLink]);
  return stored === undefined ? { outcome: "over" } : { outcome: "opened", inviteLink };
}

async function openOnce(
  { campaigns }: OpenDeps,
  tx: Transaction,
  { code, now }: { code: string; now: Date },
): Promise<OpenTaskOutcome | { outcome: "make-link"; task: StoredTask }> {
  const task = await lockTask(tx, code);
  if (task === undefined) return { outcome: "unknown-task" };
  if ((task.state !== "offered" && task.state !== "opened") || task.expiresAt <= now) return { outcome: "over" };
  const [link] = await tx.run(readLinkOf, [code]);
  if (link?.isSuspended) return { outcome: "no-ad" };
  const startLink = task.startBot === null ? undefined : `https://t.me/${task.startBot}?start=${code}`;
  if (task.state === "opened" && startLink !== undefined) return { outcome: "opened", inviteLink: startLink };
  if (link?.inviteLink) return { outcome: "opened", inviteLink: link.inviteLink };
  if (link?.isClaimed) return { outcome: "unavailable" };
  if (task.state === "offered") {
    const state = campaigns.byId.get(task.campaignId);
    if (state === undefined || outOfTime(state.campaign, now) !== undefined) return { outcome: "no-ad" };
    const { hasBudget, links } = await readRoom(tx, task, now);
    if (!hasBudget || (startLink === undefined && links >= MAX_LINKS)) return { outcome: "no-ad" };
    await applyFact(tx, task, { kind: "opened", at: now }, now);
    if (startLink !== undefined) return { outcome: "opened", inviteLink: startLink };
  }
  await tx.run(claimLink, [code]);
  return { outcome: "make-link", task };
}

async function makeLink(deps: OpenDeps, task: StoredTask): Promise<string | undefined> {
  if (task.chatId === null) throw new Error(`task ${task.code} has no channel`);
  const [channel] = await deps.database.run(readChannel, [task.chatId]);
  // It has just become a supergroup: the next opening reads its new id.
  if (channel === undefined) return undefined;
  const fields = {
    name: task.code.slice(0, NAME_LENGTH),
    expire_date: Math.floor(task.expiresAt.getTime() / 1000),
    // Telegram takes no limit of members for a link that asks for requests.
    ...(channel.approvesRequests ? { creates_join_request: true } : { member_limit: 1 }),
  };
  const { taskBotId } = channel;
  const answer = await callInChat(deps, { taskBotId, chatId: task.chatId, method: "createChatInviteLink", fields });
  return answer.outcome === "ok" ? readLink(answer.result) : undefined;
}
