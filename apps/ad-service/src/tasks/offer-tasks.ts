import type { TaskState } from "@intermission/ad-core/event-words";
import type { TaskKind } from "@intermission/ad-core/task-api";
import type { Bot } from "@intermission/operator-api/bots";
import { campaignPriorities, type TaskPayment } from "@intermission/operator-api/campaign-words";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import type { CampaignState } from "../ad-selection/campaign-state.ts";
import { exclusionReason } from "../ad-selection/eligibility.ts";
import { seenBy } from "../ad-selection/select-ad.ts";
import { publisherShareOf } from "../campaigns/event-worth.ts";
import { expiryOf, randomCode } from "../codes/issue-code.ts";
import type { TaskBotCalls } from "./bot-api.ts";
import { callInChat } from "./call-in-chat.ts";
import { LAPSED_KEPT } from "./change-task.ts";
import { offerableIn } from "./telegram-answers.ts";

/** A task as its user is told of it. */
export interface OfferedTask {
  code: string;
  campaignId: string;
  state: TaskState;
  kind: TaskKind;
  title: string;
  username: string | null;
  reference: string | null;
  expiresAt: Date;
  holdDays: number;
  paidAt: TaskPayment;
  /** The publisher's share of the price. */
  revenueMicros: number;
}

export interface OfferDeps extends TaskBotCalls {
  campaigns: CampaignSnapshot;
}

export interface OfferRequest {
  bot: Bot;
  userId: string;
  reference: string | undefined;
  language: string | undefined;
  now: Date;
}

/** At most so many tasks are open for a user of a bot. */
const MAX_TASKS = 5;
/** Telegram is asked about at most so many channels for one request. */
const MAX_QUERIED = 10;

const columns = `code, campaign_id as "campaignId", state, case when start_bot is null then 'join' else 'start' end as kind,
  coalesce(title, '@' || start_bot) as title, coalesce(task_channels.username, start_bot) as username, reference, expires_at as "expiresAt",
  hold_days as "holdDays", paid_at as "paidAt", price_micros::float8 as "priceMicros"`;

interface OfferedRow extends Omit<OfferedTask, "revenueMicros"> {
  priceMicros: number;
}

const readOpen = statement<OfferedRow>(
  "tasks.read-open",
  `select ${columns} from tasks left join task_channels using (chat_id)
   where user_id = $1 and bot_id = $2 and state in ('offered', 'opened') and expires_at > $3 order by offered_at, code`,
);
const readOne = statement<OfferedRow>(
  "tasks.read-one",
  `select ${columns} from tasks left join task_channels using (chat_id) where code = $1 and bot_id = $2`,
);
/** Campaigns that this user is not offered again: joined for, with whichever bot, or void with this one; and open offers. */
const readTaken = statement<{ campaignId: string }>(
  "tasks.read-taken",
  `select campaign_id as "campaignId" from tasks where user_id = $1 and joined_at is not null
   union select campaign_id from tasks where user_id = $1 and bot_id = $2 and state in ('void', 'offered', 'opened')`,
);
const readChannels = statement<{ chatId: string; taskBotId: string }>(
  "tasks.read-ready-channels",
  `select chat_id as "chatId", task_bot_id as "taskBotId" from task_channels where chat_id = any ($1) and rights = 'ready'`,
);
const insert = statement<{ code: string }>(
  "tasks.insert",
  // A group that becomes a supergroup meanwhile waits for this transaction, or leaves nothing to lock.
  `with channel as (select from task_channels where chat_id = $5 for key share)
   insert into tasks (code, bot_id, user_id, campaign_id, chat_id, start_bot, reference, is_test, price_micros, hold_days, paid_at,
     state, was_out, offered_at, expires_at, due_at)
   select $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::boolean, $9::bigint, $10::integer,
     $11::text, 'offered', $12::boolean, $13::timestamptz, $14::timestamptz, $14::timestamptz + interval '1 minute'
   where $5::text is null or exists (select from channel)
   on conflict (user_id, bot_id, campaign_id) where state in ('offered', 'opened') do nothing returning code`,
);
/** Advertisers with a postback key, whose bots can report a start. */
const readReporting = statement<{ advertiserId: string }>(
  "tasks.read-reporting-advertisers",
  `select advertiser_id as "advertiserId" from advertisers
   where advertiser_id = any ($1) and postback_key_hash is not null`,
);
const readShare = statement<{ percent: number }>(
  "tasks.read-share",
  "select coalesce((select percent from publisher_shares order by since desc limit 1), 0) as percent",
);

/**
 * The user's open tasks, filled up with new ones: of campaigns that fit the user, for channels where the task bot may work, and
 * where Telegram does not name the user a member. A channel about which Telegram does not answer is left out.
 */
export async function offerTasks(deps: OfferDeps, request: OfferRequest): Promise<OfferedTask[]> {
  const { database } = deps;
  const { bot, userId, now } = request;
  // An offer whose end has passed makes room for another one of its campaign.
  await database.run(lapseExpired, [userId, bot.botId, now]);
  const open = await database.run(readOpen, [userId, bot.botId, now]);
  const room = MAX_TASKS - open.length;
  const fitting = room > 0 ? await fittingCampaigns(deps, request) : [];
  for (const candidates of inPortions(fitting.slice(0, MAX_QUERIED), room)) {
    const found = await Promise.all(candidates.map((candidate) => ask(deps, candidate, userId)));
    for (const candidate of found.filter((one) => one !== undefined)) await add(database, request, candidate);
    if ((await database.run(readOpen, [userId, bot.botId, now])).length >= MAX_TASKS) break;
  }
  const [share] = await database.run(readShare, []);
  const offered = await database.run(readOpen, [userId, bot.botId, now]);
  return offered.slice(0, MAX_TASKS).map((task) => withRevenue(task, share?.percent ?? 0));
}

const lapseExpired = statement<never>(
  "tasks.lapse-expired",
  `update tasks set state = 'lapsed', due_at = $3::timestamptz + ${LAPSED_KEPT}
   where user_id = $1 and bot_id = $2 and state = 'offered'
     and expires_at <= $3`,
);

export async function readTask(
  database: Pick<Database, "run">,
  { botId, code }: { botId: string; code: string },
): Promise<OfferedTask | undefined> {
  const [task] = await database.run(readOne, [code, botId]);
  const [share] = await database.run(readShare, []);
  return task && withRevenue(task, share?.percent ?? 0);
}

const withRevenue = ({ priceMicros, ...task }: OfferedRow, percent: number): OfferedTask => ({
  ...task,
  revenueMicros: publisherShareOf(priceMicros, percent),
});

interface Candidate {
  state: CampaignState;
  target: { chatId: string; taskBotId: string } | { startBot: string };
}

/** Eligible task campaigns by priority and weight, each with a ready channel or a bot that reports its starts. */
async function fittingCampaigns({ database, campaigns }: OfferDeps, request: OfferRequest): Promise<Candidate[]> {
  const { bot, userId, language, now } = request;
  const { index } = campaigns;
  if (!index.hasFormat.task) return [];
  const taken = new Set((await database.run(readTaken, [userId, bot.botId])).map(({ campaignId }) => campaignId));
  const seen = await seenBy({ database, campaigns }, { botId: bot.botId, userId }, now);
  const ad = { format: "task" as const, bot, user: { ...(language !== undefined && { language }) }, seen };
  const moment = { now, curve: index.curve, localTimes: index.localTimes };
  const fitting = index.states.filter(
    (state) => !taken.has(state.campaign.campaignId) && exclusionReason(state, ad, moment) === undefined,
  );
  const targetOf = await readTargets(database, fitting);
  return fitting
    .map((state) => ({ state, place: placeOf(state), target: targetOf(state) }))
    .toSorted((one, other) => one.place - other.place)
    .flatMap(({ state, target }) => (target ? [{ state, target }] : []));
}

async function readTargets(database: Database, fitting: readonly CampaignState[]) {
  const all = fitting.map(({ campaign }) => campaign);
  const chatIds = all.flatMap(({ taskChatId }) => taskChatId ?? []);
  const starting = all.filter(({ taskStartBot }) => taskStartBot !== null).map(({ advertiserId }) => advertiserId);
  const channels = new Map((await database.run(readChannels, [chatIds])).map((one) => [one.chatId, one]));
  const reporting = starting.length === 0 ? [] : await database.run(readReporting, [starting]);
  return ({ campaign }: CampaignState): Candidate["target"] | undefined => {
    const { taskChatId, taskStartBot, advertiserId } = campaign;
    if (taskStartBot === null) return channels.get(taskChatId ?? "");
    return reporting.some((one) => one.advertiserId === advertiserId) ? { startBot: taskStartBot } : undefined;
  };
}

/** The priority, and within it a random place that is the earlier, the greater the weight. */
function placeOf({ campaign: { priority, weight } }: CampaignState): number {
  return campaignPriorities.indexOf(priority) + 1 - Math.random() ** (1 / weight);
}

function inPortions<Item>(items: readonly Item[], size: number): Item[][] {
  if (size <= 0) return [];
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

async function ask(deps: OfferDeps, candidate: Candidate, userId: string) {
  const { target } = candidate;
  // Only the bot knows its earlier users, and it reports only new ones.
  if ("startBot" in target) return { ...candidate, wasOut: false };
  const { chatId, taskBotId } = target;
  const fields = { user_id: Number(userId) };
  const standing = offerableIn(await callInChat(deps, { taskBotId, chatId, method: "getChatMember", fields }));
  return standing === "not" ? undefined : { ...candidate, wasOut: standing === "out" };
}

/** Of several requests at once, the first makes the offer; the unique key of open offers decides. */
async function add(
  database: Database,
  { bot, userId, reference, now }: OfferRequest,
  { state: { campaign }, target, wasOut }: Candidate & { wasOut: boolean },
): Promise<void> {
  const isStart = "startBot" in target;
  // A start has no hold: only the advertiser's own bot could report a leave, and the advertiser would save the price.
  const terms = [campaign.taskPriceMicros, ...(isStart ? [0, "joined"] : [campaign.taskHoldDays, campaign.taskPaidAt])];
  const isTest = bot.testers.includes(userId);
  const offer = [
    randomCode(bot.codePrefix, now),
    bot.botId,
    userId,
    campaign.campaignId,
    isStart ? null : target.chatId,
    isStart ? target.startBot : null,
    reference ?? null,
    isTest,
  ];
  const expiresAt = expiryOf(now, bot.codeLifetimeSeconds);
  await database.run(insert, [...offer, ...terms, wasOut, now, expiresAt]);
}
