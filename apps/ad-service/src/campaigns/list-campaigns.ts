import { campaignPace } from "@intermission/operator-api/campaign-pace";
import { type CampaignPhase, campaignPhase } from "@intermission/operator-api/campaign-phase";
import {
  type CampaignFormat,
  type CampaignSort,
  type CampaignStatus,
  campaignPhases,
} from "@intermission/operator-api/campaign-words";
import type { Campaign, DeliveredSoFar } from "@intermission/operator-api/campaigns";
import { findPatterns } from "@intermission/postgres/find-patterns";
import {
  byName,
  keysetPage,
  type ListOrder,
  type ListPage,
  listPage,
  nullsLast,
  pageOfRows,
  type SortValue,
  sortedPage,
  sortOf,
  sortRows,
} from "@intermission/postgres/keyset";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import { type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import { advertiserIdOf, campaignColumns, requireCampaign, selectCampaigns } from "./campaigns.ts";
import { type StandingsOf, withDelivered } from "./delivered-so-far.ts";

export interface CampaignList {
  order: ListOrder;
  after?: string | undefined;
  limit: number;
  archived: boolean;
  status?: CampaignStatus | undefined;
  phase?: CampaignPhase | undefined;
  review?: Campaign["review"] | undefined;
  format?: CampaignFormat | undefined;
  advertiser?: string | undefined;
  creativeId?: string | undefined;
  /** Each of its words is in the names of campaign and advertiser, or in the id: its random letters would be part of many words. */
  find?: string | undefined;
  sort?: CampaignSort | `-${CampaignSort}` | undefined;
}

interface Deps {
  now: Date;
  standingsOf: StandingsOf;
}

/** The filter of the list, with the parameters up to `$8`, the ids of the campaigns in a phase. */
const matching = `($1::boolean or status <> 'archived') and ($2::text is null or status = $2)
   and ($3::text is null or advertiser_id = $3) and ($4::text is null or formats @> array[$4])
   and ($5::text is null or exists (select from campaign_creatives
     where campaign_creatives.campaign_id = campaigns.campaign_id and creative_id = $5 and is_active))
   and ($6::text[] = '{}' or campaign_id ~ all ($6)
     or normalize(concat_ws(' ', name, ${campaignColumns.advertiser}), nfkc) ~ all ($6))
   and ($7::text is null or review = $7) and ($8::text[] is null or campaign_id = any ($8))`;

const count: Statement<{ total: number }> = {
  name: "",
  text: `select count(*)::integer as total from campaigns where ${matching}`,
};

const budgetEnds = { first: "0", last: "9223372036854775807" };
/** What SQL can sort by: the others follow from sums and rules. */
const stored = {
  name: byName("name"),
  ends: nullsLast("ends_at", { first: "'-infinity'::timestamptz", last: "'infinity'::timestamptz" }),
  daily: nullsLast("daily_budget_micros", budgetEnds),
  total: nullsLast("total_budget_micros", budgetEnds),
} satisfies Partial<Record<CampaignSort, SortValue>>;

const isStored = (value: CampaignSort): value is keyof typeof stored => Object.hasOwn(stored, value);

/** Unnamed: the plan depends on the filter and the order, and people run it rarely. */
function pageStatement({ order, sort }: Pick<CampaignList, "order" | "sort">): Statement<Campaign> {
  const { value, isDescending } =
    sort === undefined ? { value: undefined, isDescending: false } : sortOf<CampaignSort>(sort);
  const keys = { table: "campaigns", after: "$9", limit: "$10" };
  const { where, end } =
    value !== undefined && isStored(value)
      ? sortedPage({ value: stored[value], isDescending }, { ...keys, id: "campaign_id" })
      : keysetPage(order, { ...keys, columns: ["created_at", "campaign_id"] });
  return { name: "", text: `${selectCampaigns} where ${matching} and ${where} ${end}` };
}

/** A page of the campaigns that match, and how many there are. Archived ones are listed on request, or by their status. */
export async function listCampaigns(
  database: Database,
  of: CampaignList,
  deps: Deps,
): Promise<ListPage<Campaign & DeliveredSoFar> & { total: number }> {
  await requireCampaign(database, of.after);
  const filter = await filterOf(database, of);
  const { phase, after, limit } = of;
  const { value, isDescending } = sortOf<CampaignSort>(of.sort ?? "name");
  const isComputed = of.sort !== undefined && !isStored(value);
  if (!isComputed && phase === undefined) return readPage(database, { of, values: [...filter, null] }, deps);
  const candidates = await readCandidates(database, filter, { ...deps, after: isComputed ? after : undefined });
  const isListed = (one: Candidate) => one.isMatching && (phase === undefined || one.phase === phase);
  if (!isComputed) return readPage(database, { of, values: [...filter, candidates.filter(isListed).map(idOf)] }, deps);
  const sortValueOf = (one: Candidate) => computed[value](one, deps.now);
  const sorted = sortRows(candidates, { sortValueOf, idOf, isDescending });
  const { rows, next } = pageOfRows(sorted, { after, limit, idOf, isListed });
  const read = new Map((await database.run(ofIds, [rows.map(idOf)])).map((row) => [idOf(row), row]));
  const whole = await withDelivered(
    database,
    rows.flatMap((row) => read.get(idOf(row)) ?? []),
    deps,
  );
  return { rows: whole, next, total: candidates.filter(isListed).length };
}

async function filterOf(database: Database, of: Omit<CampaignList, "order" | "limit">): Promise<unknown[]> {
  const hasArchived = of.archived || of.status === "archived" || of.phase === "archived";
  const advertiserId = await advertiserIdOf(database, of.advertiser);
  return [hasArchived, of.status, advertiserId, of.format, of.creativeId, findPatterns(of.find), of.review];
}

async function readPage(
  database: Database,
  { of, values }: { of: CampaignList; values: readonly unknown[] },
  deps: Deps,
) {
  const read = await database.run(pageStatement(of), [...values, of.after, of.limit + 1]);
  const { rows, next } = listPage(read, of.limit, idOf);
  const [counted] = await database.run(count, values);
  return { rows: await withDelivered(database, rows, deps), next, total: counted?.total ?? 0 };
}

const ofPhase = [
  "campaignId",
  "advertiserId",
  "name",
  "status",
  "pausedBy",
  "review",
  "createdAt",
  "startsAt",
  "endsAt",
  "formats",
  "viewPriceMicros",
  "clickPriceMicros",
  "taskPriceMicros",
  "totalBudgetMicros",
  "dailyBudgetMicros",
  "totalViewCap",
  "totalClickCap",
] as const satisfies readonly (keyof Campaign)[];

type PhaseRow = Pick<Campaign, (typeof ofPhase)[number]> & { hasCreative: boolean; isMatching: boolean };

const phaseColumns = {
  ...(Object.fromEntries(ofPhase.map((field) => [field, campaignColumns[field]])) as Record<
    (typeof ofPhase)[number],
    string
  >),
  hasCreative: `exists (select from campaign_creatives join creatives using (creative_id)
      where campaign_creatives.campaign_id = campaigns.campaign_id and campaign_creatives.is_active and review = 'approved')`,
  isMatching: `(${matching})`,
} satisfies ColumnsOf<PhaseRow>;

// The page before may have ended at a campaign that does not match any more.
const phaseRows: Statement<PhaseRow> = {
  name: "",
  text: `select ${selected(phaseColumns)} from campaigns where (${matching}) or campaign_id = $9
   order by created_at desc, campaign_id desc`,
};
const ofIds = statement<Campaign>("campaigns.of-ids", `${selectCampaigns} where campaign_id = any ($1)`);

type Candidate = PhaseRow & DeliveredSoFar & { phase: CampaignPhase };

/** What the phase and the order follow from, of all campaigns that match, and of the one at which the page before ended. */
async function readCandidates(
  database: Database,
  filter: readonly unknown[],
  { now, standingsOf, after }: Deps & { after?: string | undefined },
): Promise<Candidate[]> {
  const read = await database.run(phaseRows, [...filter, null, after]);
  const campaigns = await withDelivered(database, read, { now, standingsOf });
  return campaigns.map((campaign) => ({ ...campaign, phase: campaignPhase(campaign, now.getTime()) }));
}

/** The active campaigns with their phases, the latest first. */
export async function readActivePhases(database: Database, advertiser: string | undefined, deps: Deps) {
  const filter = await filterOf(database, { archived: false, status: "active", advertiser });
  return readCandidates(database, filter, deps);
}

const computed: Record<
  Exclude<CampaignSort, keyof typeof stored>,
  (one: Candidate, now: Date) => number | undefined
> = {
  state: ({ phase }) => campaignPhases.indexOf(phase),
  spent: ({ delivered }) => delivered.spentMicros,
  pace: (campaign, now) => campaignPace(campaign, now.getTime()),
};

const idOf = ({ campaignId }: Pick<Campaign, "campaignId">) => campaignId;
